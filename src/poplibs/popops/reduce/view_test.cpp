// Tensors that lie in blocks are reduced in the order of their memory.
#include "poplibs/popops/reduce/view.h"

#include <gtest/gtest.h>

#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

#include "poplibs/popops/reduce/plan.h"

namespace popops::internal {
namespace {

using poplar::Graph;
using poplar::Tensor;

poplar::Target target() { return poplar::Target::createIPUTarget(1, "ipu2"); }

// {rows, columns} in blocks of r x c, column of blocks after column of blocks, a block on a tile.
Tensor in_blocks(Graph& graph, std::size_t rows, std::size_t columns, std::size_t r, std::size_t c) {
  const Tensor flat = graph.addVariable(poplar::FLOAT, {columns / c, rows / r, r, c}, "blocks");
  poputil::mapTensorLinearly(graph, flat, static_cast<unsigned>(r * c), static_cast<unsigned>(r * c));
  return flat.dimShuffle({1, 2, 0, 3}).reshape({rows, columns});
}

std::vector<std::pair<std::size_t, bool>> sizes(const ReductionView& view) {
  std::vector<std::pair<std::size_t, bool>> out;
  for (const ViewDim& d : view.dims) out.emplace_back(d.size, d.reduced);
  return out;
}

using Sizes = std::vector<std::pair<std::size_t, bool>>;

TEST(ReductionView, BlocksAreTakenApart) {
  Graph graph(target());
  const Tensor t = in_blocks(graph, 96, 128, 32, 16);
  const ReductionView rows = view_of(t, {true, false}), columns = view_of(t, {false, true});
  EXPECT_TRUE(rows.in.isContiguous());
  EXPECT_TRUE(columns.in.isContiguous());
  EXPECT_EQ(sizes(rows), (Sizes{{8, false}, {96, true}, {16, false}}));
  EXPECT_EQ(sizes(columns), (Sizes{{8, true}, {96, false}, {16, true}}));
  EXPECT_EQ(rows.kept_shape, (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(rows.outputs, 128u);
  EXPECT_EQ(columns.kept_shape, (std::vector<std::size_t>{96}));
}

TEST(ReductionView, TensorsOfSeveralVariablesToo) {
  Graph graph(target());
  const Tensor t =
      poplar::concat({in_blocks(graph, 64, 32, 32, 16), in_blocks(graph, 64, 32, 32, 16), in_blocks(graph, 64, 32, 32, 16)}, 1);
  const ReductionView view = view_of(t, {true, false});
  EXPECT_EQ(view.in.getContiguousRegions().size(), 3u);
  EXPECT_EQ(sizes(view), (Sizes{{6, false}, {64, true}, {16, false}}));
}

TEST(ReductionView, OddShapesKeepTheirElements) {
  Graph graph(target());
  const Tensor a = graph.addVariable(poplar::FLOAT, {6, 10}, "a"), b = graph.addVariable(poplar::FLOAT, {4, 10}, "b");
  for (const Tensor& t :
       {poplar::concat(a, b), poplar::concat(a, b).transpose(), a.broadcast(3, 1), a.reverse(0), a.subSample(2, 1), a.slice(1, 4, 0)})
    for (const std::vector<bool>& reduced : {std::vector<bool>{true, false}, std::vector<bool>{false, true}}) {
      const ReductionView view = view_of(t, reduced);
      EXPECT_EQ(view.in.numElements(), t.numElements());
      EXPECT_EQ(view.outputs * view.inputs_per_output, t.numElements());
      // Sorted by where they lie, the elements are the same.
      const auto places = [](const Tensor& x) {
        std::vector<std::pair<std::string, std::size_t>> list;
        for (std::size_t i = 0; i < x.numElements(); ++i) {
          const auto region = x.flatten().slice(i, i + 1).getVarRegions()[0];
          list.emplace_back(x.flatten().slice(i, i + 1).getVarStr(), region.interval.begin());
        }
        std::sort(list.begin(), list.end());
        return list;
      };
      EXPECT_EQ(places(view.in), places(t));
    }
}

// Regions of all vertices: what a compiler has to place.
std::size_t regions_of(const ReductionPlan& plan) {
  std::size_t n = 0;
  for (const Stage& s : plan.stages)
    for (const Work& w : s.works)
      for (const WorkItem& item : w.items) n += item.regions.size();
  return n;
}

TEST(ReductionView, BlocksAreReadInWholeRegions) {
  Graph graph(target());
  const Tensor t = in_blocks(graph, 1024, 768, 32, 64);
  for (const bool rows : {true, false}) {
    const ReductionView view = view_of(t, {rows, !rows});
    const TileIntervals on_tiles = intervals_on_tiles(graph, view.in);
    EXPECT_TRUE(on_tiles.lies_whole);
    PlanOptions options;
    options.tiles = graph.getTarget().getNumTiles();
    options.vertices_per_tile = 6;
    const ReductionPlan plan = plan_reduction(view.dims, on_tiles.of_tile, options);
    ASSERT_EQ(plan.stages.size(), 2u) << "no worker of a tile leaves a part that another one of it has, too";
    EXPECT_LE(regions_of(plan), 2304u + 32 * 192u) << rows;
  }
}

}  // namespace
}  // namespace popops::internal
