#include "poplibs/poplin/conv/plan/plan.h"

#include "poplibs/poplin/conv/plan/grid.h"

#include <gtest/gtest.h>
#include <poplar/IPUModel.hpp>
#include <poplar/exceptions.hpp>

#include <vector>

namespace poplin::conv {
namespace {

using pando::planning::Objective;
using poplar::Target;

Target target_of(unsigned tiles) {
  poplar::IPUModel model("ipu2");
  model.numIPUs = 1;
  model.tilesPerIPU = tiles;
  return model.createDevice().getTarget();
}

std::vector<Problem> problems() {
  std::vector<Problem> out;
  for (const auto& [batch, field, kernel, in, co, groups] :
       std::vector<std::tuple<std::size_t, std::vector<std::size_t>, std::vector<std::size_t>, std::size_t, std::size_t, std::size_t>>{
           {8, {56, 56}, {3, 3}, 64, 64, 1},
           {1, {14, 14}, {3, 3}, 256, 256, 1},
           {4, {7}, {3}, 20, 33, 2},
           {2, {9, 8, 7}, {1, 2, 3}, 3, 5, 1},
           {16, {}, {}, 100, 10, 1}})
    out.push_back(problem_of(ConvParams(poplar::HALF, batch, field, kernel, in, co, groups)));
  return out;
}

constexpr Kind kKinds[] = {Kind::forward, Kind::weight_gradient};

// Every output, input channel and output channel is in one block of every kind, and no tile has two.
TEST(ConvPlan, BlocksCoverAllOnce) {
  for (const auto& [tiles, objective] : {std::pair(16u, Objective::cycles), {1472u, Objective::cycles}, {1472u, Objective::host_time}}) {
    const Target target = target_of(tiles);
    const poplar::Graph graph(target);
    for (const Problem& p : problems())
      for (const Kind kind : kKinds) {
        Options options;
        options.objective = objective;
        const ConvolutionPlan plan = find_plan(target, options, p, kind);
        std::int64_t volume = 0, whole = p.groups * p.batch * p.out_channels * p.in_channels;
        for (const Line& line : p.lines) whole *= line.out;
        for (std::int64_t step = 0; step < plan.partition.serial; ++step) {
          std::vector<unsigned> blocks(tiles, 0);
          each_block(graph, p, plan.partition, step, [&](const Block& b) {
            std::int64_t v = b.groups.size() * b.batch.size() * b.out_channels.size() * b.in_channels.size();
            for (const Range& r : b.field) v *= r.size();
            volume += v;
            EXPECT_EQ(++blocks[b.tile], 1u);
          });
        }
        EXPECT_EQ(volume, whole) << to_string(p, kind, plan);
      }
  }
}

// For the host, the field is cut only along the first dimension, which takes more cycles; what does not fit by row is cut for the machine.
TEST(ConvPlan, ForTheHostCutsByRow) {
  const Target target = target_of(1472);
  const Problem p = problem_of(ConvParams(poplar::FLOAT, 8, {56, 56}, {3, 3}, 64, 64, 1));
  for (const Kind kind : kKinds) {
    Options options;
    options.objective = Objective::host_time;
    const ConvolutionPlan plan = find_plan(target, options, p, kind);
    EXPECT_TRUE(plan.partition.by_row);
    EXPECT_EQ(plan.partition.field[1], 1);
    EXPECT_LE(plan.cost.memory, options.memory_proportion * target.getBytesPerTile());
    const ConvolutionPlan machine = find_plan(target, {}, p, kind);
    EXPECT_FALSE(machine.partition.by_row);
    EXPECT_LT(machine.cost.total(), plan.cost.total());
  }
  const Problem wide = problem_of(ConvParams(poplar::FLOAT, 1, {4, 65536}, {1, 1}, 4, 4, 1));
  Options host;
  host.objective = Objective::host_time;
  EXPECT_FALSE(find_plan(target, host, wide, Kind::forward).partition.by_row);
}

// A cache serves several targets.
TEST(ConvPlan, IsOfItsTarget) {
  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 1472;
  const Target target = target_of(1472);
  model.exchangeBytesPerCycle = 64;
  const Target other = model.createDevice().getTarget();
  PlanningCache cache;
  unsigned differ = 0;
  for (const Problem& p : problems()) {
    const ConvolutionPlan plan = plan_for(target, {}, p, Kind::forward, &cache), quick = plan_for(other, {}, p, Kind::forward, &cache);
    EXPECT_EQ(quick.partition, find_plan(other, {}, p, Kind::forward).partition);
    differ += plan.partition != quick.partition;
  }
  EXPECT_GT(differ, 0u);
}

TEST(ConvPlan, DependsOnItsArgumentsAlone) {
  const Target target = target_of(1472);
  PlanningCache cache;
  for (const Problem& p : problems()) {
    const ConvolutionPlan first = plan_for(target, {}, p, Kind::forward, &cache), again = plan_for(target, {}, p, Kind::forward, &cache);
    EXPECT_EQ(first.partition, find_plan(target, {}, p, Kind::forward).partition);
    EXPECT_EQ(first.partition, again.partition);
  }
}

TEST(ConvPlan, HoldsConstraints) {
  const Target target = target_of(16);
  const Problem p = problems()[0];
  const Options options = parse_options({{"planConstraints", R"({"partition": {"batch": 2, "field": [4, 1], "inChans": 2}})"}});
  const ConvolutionPlan plan = find_plan(target, options, p, Kind::forward);
  EXPECT_EQ(plan.partition.batch, 2);
  EXPECT_EQ(plan.partition.field, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(plan.partition.in_channels, 2);
  EXPECT_THROW(find_plan(target, parse_options({{"planConstraints", R"({"partition": {"batch": 8, "inChans": 8}})"}}), p, Kind::forward),
               poplar::invalid_option);
}

}  // namespace
}  // namespace poplin::conv
