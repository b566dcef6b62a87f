// Linear mappings against a dumb checker.
#include <gmock/gmock.h>

#include "poputil/TileMapping.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::Graph;
using poplar::Interval;
using poplar::Target;

TEST(LinearMapping, IsBalancedAndComplete) {
  const Target target = Target::createIPUTarget(1, 100, "ipu2");
  for (const std::size_t n : {0u, 1u, 7u, 8u, 99u, 1000u, 12345u})
    for (const unsigned grain : {0u, 1u, 4u, 32u})
      for (const unsigned least : {0u, 1u, 16u, 100u})
        for (const unsigned offset : {0u, 1u, 99u, 250u})
          for (const bool up : {true, false}) {
            const auto mapping = calcLinearTileMapping(target, {n}, least, grain, offset, up);
            SCOPED_TRACE(testing::Message() << n << " grain " << grain << " least " << least << " offset " << offset << " up " << up);
            ASSERT_EQ(mapping.size(), 100u);
            std::size_t at = 0, largest = 0, smallest = SIZE_MAX;
            for (unsigned i = 0; i < 100; ++i) {
              const unsigned tile = (i + offset) % 100;
              for (const Interval& r : mapping[up ? tile : 99 - tile]) {
                EXPECT_EQ(r.begin(), at);
                at = r.end();
                if (at != n) {
                  EXPECT_EQ(r.size() % std::max(1u, grain), 0u);
                  smallest = std::min(smallest, r.size());
                }
                largest = std::max(largest, r.size());
              }
            }
            EXPECT_EQ(at, n);
            if (smallest != SIZE_MAX) {
              EXPECT_GE(smallest, least);
              EXPECT_LE(largest, smallest + std::max(1u, grain));
            }
            EXPECT_EQ(getTileImbalance(mapping, least, grain), 0u);
          }
}

TEST(LinearMapping, SmallTypesUseAlmostAllTiles) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  for (const auto& type : {poplar::CHAR, poplar::HALF, poplar::FLOAT, poplar::LONGLONG}) {
    const auto mapping = calcLinearTileMapping(target, {1000, 100}, type);
    std::size_t used = 0;
    for (const auto& regions : mapping)
      for (const Interval& r : regions) {
        ++used;
        EXPECT_EQ(r.begin() * target.getTypeSize(type) % 8, 0u);
      }
    EXPECT_GE(used, 0.9 * 1472);
  }
}

TEST(LinearMapping, NewOffsetIsAfterTheLastTile) {
  Graph graph(Target::createIPUTarget(1, 16, "ipu2"));
  const auto t = graph.addVariable(poplar::FLOAT, {48});
  const auto [mapping, next] = calcLinearTileMappingAndNewOffset(graph, t, 14);
  EXPECT_EQ(next, 1u);
  EXPECT_FALSE(mapping[14].empty() || mapping[15].empty() || mapping[0].empty());
  EXPECT_TRUE(mapping[1].empty());
  mapTensorLinearlyWithOffset(graph, t, 14);
  EXPECT_EQ(graph.getTileMapping(t), mapping);
}

TEST(LinearMapping, MapsTensorsOfVirtualGraphs) {
  Graph graph(Target::createIPUTarget(2, 16, "ipu2"));
  Graph second = graph.createVirtualGraph(16, 32);
  const auto t = second.addVariable(poplar::FLOAT, {1600});
  mapTensorLinearly(second, t);
  const auto mapping = graph.getTileMapping(t);
  for (unsigned tile = 0; tile < 32; ++tile) EXPECT_EQ(mapping[tile].empty(), tile < 16);
  mapTensorLinearly(graph, t, 800, 1);
  EXPECT_EQ(graph.getTileMapping(t)[1].front(), Interval(800, 1600));
}

TEST(LinearMapping, ImbalanceIsWhatTheFullestTileHasTooMuch) {
  EXPECT_EQ(getTileImbalance({{{0, 10}}, {}}), 5u);
  EXPECT_EQ(getTileImbalance({{{0, 10}}, {}}, 10), 0u);
  EXPECT_EQ(getTileImbalance({{{0, 6}}, {{6, 10}}}, 0, 3), 0u);
  EXPECT_EQ(getTileImbalance({}), 0u);
  Graph graph(Target::createIPUTarget(1, 4, "ipu2"));
  const auto t = graph.addVariable(poplar::FLOAT, {8});
  graph.setTileMapping(t, 3);
  EXPECT_EQ(getTileImbalance(graph, t), 6u);
}

TEST(LinearMapping, TileIndicesGoThereAndBack) {
  EXPECT_EQ(transformTileIndex(0, 10, 3, true), 3u);
  EXPECT_EQ(transformTileIndex(8, 10, 3, true), 1u);
  EXPECT_EQ(transformTileIndex(0, 10, 3, false), 6u);
  for (unsigned tile = 0; tile < 10; ++tile)
    for (const unsigned offset : {0u, 3u, 25u})
      for (const bool up : {true, false}) EXPECT_EQ(invTransformTileIndex(transformTileIndex(tile, 10, offset, up), 10, offset, up), tile);
  EXPECT_THROW(transformTileIndex(10, 10, 0, true), poplibs_error);
  EXPECT_THROW(invTransformTileIndex(10, 10, 0, true), poplibs_error);
}

TEST(LinearMapping, OffsetsDependOnTheShape) {
  const std::size_t a = chooseMappingOffset(1472, {3, 5});
  EXPECT_LT(a, 1472u);
  EXPECT_EQ(a, chooseMappingOffset(1472, {3, 5}));
  EXPECT_NE(a, chooseMappingOffset(1472, {5, 3}));
  EXPECT_NE(a, chooseMappingOffset(1472, {3, 5}, 1));
  EXPECT_THROW(chooseMappingOffset(0, {3}), poplibs_error);
}

}  // namespace
}  // namespace poputil
