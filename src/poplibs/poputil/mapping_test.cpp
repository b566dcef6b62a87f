// Mappings that follow use, clones on other tiles, dimensions that are split.
#include <gmock/gmock.h>

#include <algorithm>

#include "poputil/TileMapping.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::HALF;
using poplar::Interval;
using poplar::Target;
using poplar::Tensor;
using Method = TensorUseTracker::MappingMethod;
using Mapping = Graph::TileToTensorMapping;

struct OnFourTiles : testing::Test {
  Graph graph{Target::createIPUTarget(1, 4, "ipu2")};
};

// The tile of each element.
std::vector<unsigned> tiles_of(const Graph& graph, const Tensor& t) {
  std::vector<unsigned> tiles(t.numElements(), ~0u);
  const Mapping mapping = graph.getTileMapping(t);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& r : mapping[tile])
      for (std::size_t i = r.begin(); i < r.end(); ++i) tiles[i] = tile;
  return tiles;
}

TEST_F(OnFourTiles, SharedElementsAreSpread) {
  const Tensor t = graph.addVariable(FLOAT, {16});
  TensorUseTracker tracker(4);
  EXPECT_TRUE(tracker.empty());
  for (unsigned tile = 0; tile < 4; ++tile) tracker.add(graph, tile, t);
  EXPECT_FALSE(tracker.empty());
  TensorUseTracker down(4, 1, false);
  down.add(tracker);
  tracker.mapTensorsByUse(graph, 4, 4);
  EXPECT_EQ(tiles_of(graph, t), (std::vector<unsigned>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  down.mapTensorsByUse(graph, 4, 4);
  EXPECT_EQ(tiles_of(graph, t), (std::vector<unsigned>{2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 3, 3, 3, 3}));
}

TEST_F(OnFourTiles, FewElementsGoWhereLeastIs) {
  const Tensor t = graph.addVariable(FLOAT, {24});
  TensorUseTracker tracker(4);
  tracker.add(graph, 0, t.slice(0, 8));
  tracker.add(graph, 1, t.slice(8, 12));
  tracker.add(graph, 2, t.slice(12, 16));
  for (unsigned tile = 0; tile < 3; ++tile) tracker.add(graph, tile, t.slice(16, 24));
  tracker.mapTensorsByUse(graph, 1, 4);
  EXPECT_EQ(getTileImbalance(graph, t.slice(0, 16), 1, 4), 4u);
  EXPECT_EQ(tiles_of(graph, t.slice(16, 24)), (std::vector<unsigned>{1, 1, 1, 1, 2, 2, 2, 2}));
}

TEST_F(OnFourTiles, GrainsAreNotCut) {
  const Tensor t = graph.addVariable(FLOAT, {10});
  TensorUseTracker tracker(4);
  tracker.add(graph, 0, t.slice(0, 5));
  tracker.add(graph, 1, t.slice(5, 10));
  TensorUseTracker copy = tracker, assigned(1);
  assigned = tracker;
  tracker.mapTensorsByUse(graph, 4, 4);
  const auto tiles = tiles_of(graph, t);
  EXPECT_EQ(tiles[4], tiles[7]);
  // Unless each part has to be on its tile.
  copy.mapTensorsByUse(graph, 4, 4, false, Method::ConstrainMappingToUsedTiles);
  EXPECT_EQ(tiles_of(graph, t), (std::vector<unsigned>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  assigned.resolve(graph, 4, 4);
  assigned.mapTensorsByUse(graph, 1, 1);
  EXPECT_EQ(tiles_of(graph, t), tiles);
}

TEST_F(OnFourTiles, NeighboursOfUsedElementsAreMappedToo) {
  const Tensor t = graph.addVariable(FLOAT, {4, 2});
  TensorUseTracker tracker(4);
  for (unsigned tile = 0; tile < 4; ++tile) tracker.add(graph, tile, t.slice(0, 1, 1));
  tracker.mapTensorsByUse(graph, 1, 1, true);
  EXPECT_EQ(getTileImbalance(graph, t, 1, 1), 0u);
  const Tensor middle = graph.addVariable(FLOAT, {9});
  TensorUseTracker one(4);
  one.add(graph, 2, middle.slice(3, 5));
  one.mapTensorsByUse(graph, 1, 1, true);
  EXPECT_EQ(tiles_of(graph, middle), std::vector<unsigned>(9, 2));
}

TEST_F(OnFourTiles, HalosFollowTheirNeighbours) {
  // Four windows of 8 x 8, 6 apart, over 14 x 14.
  const Tensor t = graph.addVariable(FLOAT, {14, 14});
  TensorUseTracker tracker(4);
  for (unsigned tile = 0; tile < 4; ++tile) {
    const std::size_t row = tile / 2 * 6, column = tile % 2 * 6;
    tracker.add(graph, tile, t.slice({row, column}, {row + 8, column + 8}));
  }
  tracker.mapTensorsByUse(graph, 1, 1, false, Method::OptimizeHaloRegions);
  const auto tiles = tiles_of(graph, t);
  for (unsigned i = 0; i < 14; ++i)
    for (unsigned j = 0; j < 14; ++j) EXPECT_EQ(tiles[i * 14 + j], i / 7 * 2 + (j >= 8)) << i << ' ' << j;
}

TEST_F(OnFourTiles, EveryElementGoesToOneOfItsUsers) {
  const Tensor a = graph.addVariable(HALF, {300}), b = graph.addVariable(HALF, {77});
  const Tensor both = poplar::concat(a, b);
  for (const Method method : {Method::None, Method::ConstrainMappingToUsedTiles, Method::OptimizeHaloRegions})
    for (const unsigned grain : {1u, 4u}) {
      TensorUseTracker tracker(4);
      std::vector<std::vector<bool>> uses(4, std::vector<bool>(both.numElements()));
      unsigned state = 5;
      const auto next = [&](unsigned n) { return (state = state * 1664525 + 1013904223) / 65536 % n; };
      for (unsigned i = 0; i < 40; ++i) {
        const unsigned tile = next(4), begin = next(370), end = std::min(377u, begin + 1 + next(60));
        tracker.add(graph, tile, both.slice(begin, end));
        std::fill(uses[tile].begin() + begin, uses[tile].begin() + end, true);
      }
      // Users of a part of a grain count as users of the whole.
      if (method != Method::ConstrainMappingToUsedTiles)
        for (auto& use : uses)
          for (const auto& [first, last] : {std::pair(0u, 300u), std::pair(300u, 377u)})
            for (unsigned g = first; g < last; g += grain)
              if (std::find(use.begin() + g, use.begin() + std::min(last, g + grain), true) != use.begin() + std::min(last, g + grain))
                std::fill(use.begin() + g, use.begin() + std::min(last, g + grain), true);
      tracker.mapTensorsByUse(graph, grain, grain, false, method);
      bool complete = false;
      const Mapping mapping = graph.getTileMapping(both, &complete);
      for (unsigned tile = 0; tile < 4; ++tile)
        for (const Interval& r : mapping[tile])
          for (std::size_t i = r.begin(); i < r.end(); ++i) EXPECT_TRUE(uses[tile][i]) << tile << ' ' << i;
    }
}

TEST_F(OnFourTiles, TrackerErrors) {
  TensorUseTracker tracker(4);
  EXPECT_THROW(tracker.add(graph, 4, graph.addVariable(FLOAT, {1})), poplibs_error);
  EXPECT_THROW(tracker.add(TensorUseTracker(5)), poplibs_error);
  EXPECT_THROW(TensorUseTracker(0), poplibs_error);
}

TEST_F(OnFourTiles, BroadcastOperandLiesWithItsElements) {
  const Tensor t = graph.addVariable(HALF, {3, 16});
  graph.setTileMapping(t.slice(0, 1, 1), 0);
  for (unsigned tile = 1; tile < 4; ++tile) graph.setTileMapping(t.slice(tile == 1 ? 1 : 4 * tile, 4 * (tile + 1), 1), tile);
  const Tensor b = createBroadcastOperand(graph, t, HALF, 1);
  EXPECT_EQ(b.shape(), (std::vector<std::size_t>{16}));
  EXPECT_EQ(tiles_of(graph, b), tiles_of(graph, t[0]));
  // Along rows: every tile has a part of every row; elements are spread.
  EXPECT_EQ(getTileImbalance(graph, createBroadcastOperand(graph, graph.clone(t), FLOAT, 0), 2, 2), 0u);
  const Tensor wide = graph.addVariable(FLOAT, {2, 3, 100});
  mapTensorLinearly(graph, wide);
  for (unsigned dim = 0; dim < 3; ++dim)
    for (const bool dither : {false, true}) {
      const Tensor o = createBroadcastOperand(graph, wide, FLOAT, dim, dither);
      EXPECT_EQ(o.numElements(), wide.dim(dim));
      const auto of_operand = tiles_of(graph, o), of_wide = tiles_of(graph, wide.dimRoll(dim, 0));
      const std::size_t each = wide.numElements() / o.numElements();
      for (std::size_t i = 0; i < o.numElements(); ++i)
        EXPECT_NE(std::find(of_wide.begin() + i * each, of_wide.begin() + (i + 1) * each, of_operand[i]), of_wide.begin() + (i + 1) * each);
    }
  EXPECT_THROW(createBroadcastOperand(graph, t, HALF, 2), poplibs_error);
  EXPECT_EQ(createBroadcastOperand(graph, graph.addVariable(FLOAT, {0, 3}), FLOAT, 1).numElements(), 3u);
}

TEST(TwoIpus, SplitDimensions) {
  Graph graph(Target::createIPUTarget(2, 2, "ipu2"));
  const Tensor t = graph.addVariable(FLOAT, {4, 6});
  for (unsigned tile = 0; tile < 4; ++tile) graph.setTileMapping(t[tile], tile);
  EXPECT_TRUE(dimIsSplitOverTiles(graph, t, 0));
  EXPECT_FALSE(dimIsSplitOverTiles(graph, t, 1));
  EXPECT_TRUE(dimIsSplitOverIPUs(graph, t, 0));
  EXPECT_FALSE(dimIsSplitOverIPUs(graph, t.slice(0, 2), 0));
  EXPECT_TRUE(dimIsSplitOverTiles(graph, t.slice(0, 2), 0));
  EXPECT_THROW(dimIsSplitOverTiles(graph, t, 2), poplibs_error);
  EXPECT_THROW(dimIsSplitOverIPUs(graph, t, 2), poplibs_error);
}

TEST(TwoIpus, SplitDimensionsAgainstAllElements) {
  Graph graph(Target::createIPUTarget(2, 2, "ipu2"));
  unsigned state = 3;
  const auto next = [&](unsigned n) { return (state = state * 1664525 + 1013904223) / 65536 % n; };
  unsigned split = 0, whole = 0;
  for (unsigned round = 0; round < 300; ++round) {
    const Tensor t = graph.addVariable(FLOAT, {1 + next(4), 1 + next(4), 1 + next(4)});
    // A tile for each position in some of the dimensions.
    const unsigned dims = next(8);
    unsigned tiles[64];
    for (unsigned& tile : tiles) tile = next(4);
    for (unsigned i = 0; i < t.dim(0); ++i)
      for (unsigned j = 0; j < t.dim(1); ++j)
        for (unsigned k = 0; k < t.dim(2); ++k)
          graph.setTileMapping(t[i][j][k], tiles[(dims & 1 ? i : 0) * 16 + (dims & 2 ? j : 0) * 4 + (dims & 4 ? k : 0)]);
    for (unsigned d = 0; d < 3; ++d) {
      const auto rows = tiles_of(graph, t.dimRoll(d, 2));
      bool tile_differs = false, ipu_differs = false;
      for (std::size_t e = 0; e < rows.size(); ++e) {
        const unsigned first = rows[e - e % t.dim(d)];
        tile_differs |= rows[e] != first;
        ipu_differs |= rows[e] / 2 != first / 2;
      }
      EXPECT_EQ(dimIsSplitOverTiles(graph, t, d), tile_differs);
      EXPECT_EQ(dimIsSplitOverIPUs(graph, t, d), ipu_differs);
      ++(tile_differs ? split : whole);
    }
  }
  EXPECT_GT(split, 100u);
  EXPECT_GT(whole, 100u);
}

TEST(TwoIpus, ClonesGoToTheSameTilesOfTheOther) {
  Graph graph(Target::createIPUTarget(2, 2, "ipu2"));
  const Tensor t = graph.addVariable(FLOAT, {4, 6});
  for (unsigned tile = 0; tile < 4; ++tile) graph.setTileMapping(t[tile], tile);
  const Tensor c = cloneToIpu(graph, t, 0);
  for (unsigned tile = 0; tile < 4; ++tile) EXPECT_EQ(tiles_of(graph, c[tile]), std::vector<unsigned>(6, tile % 2));
  EXPECT_EQ(c.shape(), t.shape());
  EXPECT_FALSE(c.intersectsWith(t));
  EXPECT_THROW(cloneToIpu(graph, t, 2), poplibs_error);

  Graph first = graph.createVirtualGraph(0, 2), second = graph.createVirtualGraph(2, 4), one = graph.createVirtualGraph(3, 4);
  const Tensor moved = cloneToGraph(first, second, t.slice(0, 2));
  EXPECT_EQ(tiles_of(graph, moved[1]), std::vector<unsigned>(6, 3));
  EXPECT_THROW(cloneToGraph(first, one, t.slice(0, 2)), poplibs_error);
}

TEST_F(OnFourTiles, ExpandedAliasesAreSpread) {
  const Tensor t = graph.addVariable(FLOAT, {100});
  graph.setTileMapping(t, 3);
  const auto [same, at] = cloneAndExpandAliasing(graph, t, 1);
  EXPECT_EQ(at, 1u);
  EXPECT_EQ(tiles_of(graph, same), std::vector<unsigned>(100, 3));
  // [0, 40) occurs once, [40, 100) twice.
  const Tensor view = poplar::concat({t.slice(40, 70), t, t.slice(70, 100)});
  const auto [spread, next] = cloneAndExpandAliasing(graph, view, 1);
  EXPECT_FALSE(spread.containsAliases());
  EXPECT_EQ(spread.shape(), view.shape());
  EXPECT_EQ(tiles_of(graph, spread.slice(30, 70)), std::vector<unsigned>(40, 3));
  EXPECT_EQ(getTileImbalance(graph, poplar::concat(spread.slice(0, 30), spread.slice(70, 160))), 0u);
  EXPECT_EQ(tiles_of(graph, spread)[0], 1u);
  EXPECT_EQ(next, 1u);
  // Regions inside others.
  const Tensor nested = poplar::concat({t.slice(0, 50), t.slice(10, 20), t.slice(15, 60), t.slice(55, 58), t.slice(90, 100)});
  const Tensor n = cloneAndExpandAliasing(graph, nested).first;
  const auto tiles = tiles_of(graph, n);
  std::vector<bool> once(118);
  for (const auto& [begin, end] : {std::pair(0, 10), std::pair(95, 100), std::pair(103, 105), std::pair(108, 118)})
    std::fill(once.begin() + begin, once.begin() + end, true);
  std::vector<Tensor> repeated;
  for (std::size_t i = 0; i < 118; ++i) {
    if (once[i])
      EXPECT_EQ(tiles[i], 3u) << i;
    else
      repeated.push_back(n.slice(i, i + 1));
  }
  EXPECT_EQ(getTileImbalance(graph, poplar::concat(repeated), 16, 2), 0u);
}

}  // namespace
}  // namespace poputil
