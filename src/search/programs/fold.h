// What a strategy costs, from a few of a program's equal layers and of its microbatches: time and memory are found for two numbers of
// layers on each stage and two numbers of microbatches, and grow in proportion from there. A GPT of 24 layers costs what one of 3 does.
//
//     FoldedProgram folded(program);
//     if (auto e = folded.estimate(strategy, cluster, costs)) ...   // else: the whole program has to be made
#pragma once

#include "search/programs/layouts.h"
#include "search/programs/least_time.h"
#include "search/programs/program_search.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pando::search {

// The same with all layers in one stage and nothing computed again: what a layout depends on, and no more.
transform::Strategy in_one_stage(transform::Strategy strategy);

class FoldedProgram {
 public:
  explicit FoldedProgram(const transform::Program& program);

  // Of the whole program.
  Layouts& layouts() { return layouts_; }

  // Each of layers first() to end() - 1 is equal to the one period() layers before it, if that is among them: each op, its attributes and
  // types, and what it takes. Blocks of attention and of experts by turns have the period 2. None: end() == first().
  std::uint32_t first() const { return first_; }
  std::uint32_t end() const { return end_; }
  std::uint32_t period() const { return period_; }

  // The program with so many of these layers left out: whole periods, at most all but two.
  const transform::Program& without(std::uint32_t layers);

  // None where nothing can be left out. Rejects what parallelise() rejects.
  std::optional<ProgramEstimate> estimate(const transform::Strategy& strategy, const simulate::Cluster& cluster,
                                          const simulate::CostModel& costs);
  // Whether layers can be left out.
  bool folds(const transform::Strategy& strategy) { return plan(strategy).layers; }
  // The bound of least_time.h, from the same programs. None where nothing can be left out. Rejects (value) what the stages reject.
  std::optional<double> least_seconds(const transform::Strategy& strategy, const simulate::CostModel& costs);

 private:
  static constexpr std::uint32_t kLongestPeriod = 8;
  // Which programs and microbatches an estimate is made of.
  struct Folding {
    // Layers by stage; how many periods the stage with fewest has, and how many of these stay in the smaller program.
    std::vector<std::uint32_t> counts;
    std::uint32_t least = 0, few = 1;
    bool layers = false, microbatches = false;
    // Of the microbatches.
    std::int32_t fewer = 1, more = 1;
  };
  Folding plan(const transform::Strategy& strategy);
  transform::Strategy shortened(const transform::Strategy& strategy, const Folding& plan, std::uint32_t dropped) const;

  // A smaller program with what is known of it.
  struct Smaller {
    std::unique_ptr<transform::Program> program;
    std::unique_ptr<LeastTime> times;
    std::unique_ptr<Layouts> layouts;
  };
  Smaller& smaller(std::uint32_t layers);

  void find_layers();
  void find_equal();
  bool equal(std::uint32_t layer, std::uint32_t next) const;
  bool matches(ir::ValueId a, ir::ValueId b, std::uint32_t layer, std::uint32_t next) const;

  const transform::Program& program_;
  Layouts layouts_;
  std::uint32_t layers_ = 0, first_ = 0, end_ = 0, period_ = 1;
  // By op and by input of the main graph: the layer, -1: none; and which of the layer's it is.
  std::vector<std::int32_t> layer_of_op_, layer_of_input_;
  std::vector<std::uint32_t> place_of_op_, place_of_input_;
  std::vector<std::vector<ir::OpId>> ops_of_layer_;
  std::vector<std::vector<std::uint32_t>> inputs_of_layer_;
  // By whether there are microbatches.
  std::map<bool, std::vector<double>> operations_;
  std::map<std::uint32_t, Smaller> smaller_;
};

}  // namespace pando::search
