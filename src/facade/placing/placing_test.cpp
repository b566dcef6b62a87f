#include "pando/placing.hpp"

#include <gtest/gtest.h>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace pando {
namespace {

using poplar::Graph;
using poplar::Tensor;

Graph graph_of(unsigned tiles, unsigned ipus = 1) {
  poplar::IPUModel model;
  model.tilesPerIPU = tiles;
  model.numIPUs = ipus;
  return Graph(model.createDevice().getTarget());
}

Tensor put(Graph& graph, std::size_t floats, unsigned tile) {
  const Tensor t = graph.addVariable(poplar::FLOAT, {floats}, "t");
  graph.setTileMapping(t, tile);
  return t;
}

TEST(Placing, WhatIsKeptCountsInFullAndTheRestASixteenth) {
  Graph graph = graph_of(4);
  const Tensor a = put(graph, 1024, 1);
  EXPECT_EQ(resident_bytes(graph), (std::vector<std::uint64_t>{0, 256, 0, 0}));
  count_as_resident(graph, a);
  count_as_resident(graph, a);
  EXPECT_EQ(resident_bytes(graph), (std::vector<std::uint64_t>{0, 4096, 0, 0}));
  const Tensor later = graph.addVariable(poplar::FLOAT, {1024}, "later");
  count_as_resident(graph, later);  // before it is mapped
  graph.setTileMapping(later, 3);
  count_created(graph, false);
  count_as_created(graph, put(graph, 16, 2));
  EXPECT_EQ(resident_bytes(graph), (std::vector<std::uint64_t>{0, 4096, 4, 4096}));
}

TEST(Placing, ARotationGoesToTheEmptiestTiles) {
  Graph graph = graph_of(8);
  EXPECT_EQ(choose_rotation(graph, {}), 0u);
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}}), 0u);
  count_as_resident(graph, put(graph, 16384, 0));
  count_as_resident(graph, put(graph, 16384, 1));
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}}), 2u);
  EXPECT_EQ(choose_rotation(graph, {{1, 65536}, {0, 65536}}), 2u);
  EXPECT_EQ(choose_rotation(graph, {{7, 65536}}), 0u);
  // Tiles 0, 4: rotations 2 and 3 are free, 4 would be the same tiles.
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}, {4, 65536}}), 2u);
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}}), choose_rotation(graph, {{0, 65536}}));
  rotate_placements(graph, false);
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}}), 0u);
}

TEST(Placing, LittleIsNoReason) {
  Graph graph = graph_of(8);
  count_as_resident(graph, put(graph, 64, 0));
  EXPECT_EQ(choose_rotation(graph, {{0, 65536}}), 0u);
}

// Against the obvious: rotations one after the other keep tiles within a block of each other.
TEST(Placing, BlocksOfOneFormFillAllTilesAlike) {
  Graph graph = graph_of(32);
  for (int n = 0; n < 100; ++n) {
    const unsigned r = choose_rotation(graph, {{3, 4096}});
    Graph there = rotated(graph, r);
    count_as_resident(there, put(there, 1024, 3));
  }
  const std::vector<std::uint64_t> bytes = resident_bytes(graph);
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}), 100u * 4096);
  EXPECT_LE(*std::max_element(bytes.begin(), bytes.end()) - *std::min_element(bytes.begin(), bytes.end()), 4096u);
}

TEST(Placing, ARotatedGraphIsTheSameOnOtherTiles) {
  Graph graph = graph_of(4, 2);
  Graph there = rotated(graph, 3);
  const Tensor t = put(there, 1, 6);
  EXPECT_EQ(graph.getTileMapping(t)[5].size(), 1u);
  EXPECT_EQ(there.getTileMapping(t)[6].size(), 1u);
  EXPECT_EQ(there.getTarget(), graph.getTarget());
  EXPECT_EQ(rotation_between(graph, 6, 5), 3u);
  EXPECT_EQ(rotation_between(graph, 1, 5), 0u);
  Graph part = graph.createVirtualGraph(4, 8);
  Graph rest = rotated(part, 1);
  EXPECT_EQ(graph.getTileMapping(put(rest, 1, 3))[4].size(), 1u);
  count_as_resident(graph, put(graph, 65536, 6));
  EXPECT_EQ(choose_rotation(part, {{2, 4096}}), 1u);
}

TEST(Placing, ATileThatIsNotThereIsRejected) {
  Graph graph = graph_of(4);
  EXPECT_THROW(choose_rotation(graph, {{4, 1}}), poplar::invalid_tile_mapping);
}

}  // namespace
}  // namespace pando
