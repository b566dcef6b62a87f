#include "lower/tile_loads.h"

#include <gtest/gtest.h>

#include <poplar/IPUModel.hpp>

#include <algorithm>

namespace pando::lower {
namespace {

using poplar::Graph;
using poplar::Tensor;

poplar::Target machine(unsigned ipus) {
  poplar::IPUModel model("ipu2");
  model.numIPUs = ipus;
  model.tilesPerIPU = 8;
  return model.createDevice().getTarget();
}

// Rows of 16 KiB, one on each of the first two tiles of an IPU.
Tensor rows(Graph& graph, unsigned ipu) {
  const Tensor t = graph.addVariable(poplar::FLOAT, {2, 4096}, "rows");
  graph.setTileMapping(t[0], 8 * ipu);
  graph.setTileMapping(t[1], 8 * ipu + 1);
  return t;
}

TEST(TileLoads, what_is_spread_fills_the_tiles_of_its_ipu_evenly) {
  Graph graph(machine(2));
  TileLoads loads(graph.getTarget(), 1);
  const Tensor like = rows(graph, 1);
  for (int i = 0; i < 35; ++i) {
    const Tensor clone = graph.clone(like);
    loads.spread(graph, clone);
    if (i == 0) EXPECT_EQ(graph.getTileMapping(clone), graph.getTileMapping(like));  // there is room at home
  }
  // 70 rows on seven tiles; the eighth is for I/O, the other IPU has nothing.
  for (unsigned t = 0; t < 16; ++t) {
    if (t < 8 || t == 15)
      EXPECT_EQ(loads.load(t), 0u);
    else
      EXPECT_NEAR(static_cast<double>(loads.load(t)), 10 * 16384.0, 2 * 16384.0);
  }
}

TEST(TileLoads, a_tile_that_is_full_gets_nothing) {
  Graph graph(machine(1));
  TileLoads loads(graph.getTarget(), 0);
  const Tensor full = graph.addVariable(poplar::FLOAT, {80 * 1024}, "full");
  graph.setTileMapping(full, 0);
  loads.add(graph, full);
  EXPECT_EQ(loads.load(0), 320u * 1024);
  for (int i = 0; i < 20; ++i) {
    const Tensor clone = graph.clone(rows(graph, 0).dimShuffle({1, 0}));
    loads.spread(graph, clone);
    const auto mapping = graph.getTileMapping(clone);  // complete
    EXPECT_TRUE(mapping[0].empty());
  }
}

TEST(TileLoads, what_is_mapped_alike_later_counts) {
  Graph graph(machine(1));
  TileLoads loads(graph.getTarget(), 0);
  loads.spread(graph, graph.clone(rows(graph, 0)), 3);
  std::uint64_t sum = 0;
  for (unsigned t = 0; t < 8; ++t) sum += loads.load(t);
  EXPECT_EQ(sum, 3u * 2 * 16384);
  EXPECT_LE(std::max(loads.load(0), loads.load(1)), 3u * 16384);
}

}  // namespace
}  // namespace pando::lower
