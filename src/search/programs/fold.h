// What a strategy costs, from a few of a program's equal layers and of its microbatches: time and memory are found for two numbers of
// layers on each stage and two numbers of microbatches, and grow in proportion from there. A GPT of 24 layers costs what one of 3 does.
//
//     FoldedProgram folded(program);
//     if (auto e = folded.estimate(strategy, cluster, costs)) ...   // else: the whole program has to be made
#pragma once

#include "search/programs/program_search.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pando::search {

class FoldedProgram {
 public:
  explicit FoldedProgram(const transform::Program& program);

  // Layers first() to end() - 1 are equal: each op, its attributes and types, and what it takes. None: end() == first().
  std::uint32_t first() const { return first_; }
  std::uint32_t end() const { return end_; }

  // The program with so many of its equal layers left out: at most all but two.
  const transform::Program& without(std::uint32_t layers);

  // None where nothing can be left out. Refuses what parallelise() refuses.
  std::optional<ProgramEstimate> estimate(const transform::Strategy& strategy, const simulate::Cluster& cluster,
                                          const simulate::CostModel& costs);

 private:
  void find_layers();
  void find_equal();
  bool equal(std::uint32_t layer, std::uint32_t next) const;
  bool matches(ir::ValueId a, ir::ValueId b, std::uint32_t layer, std::uint32_t next) const;

  const transform::Program& program_;
  std::uint32_t layers_ = 0, first_ = 0, end_ = 0;
  // By op and by input of the main graph: the layer, -1: none; and which of the layer's it is.
  std::vector<std::int32_t> layer_of_op_, layer_of_input_;
  std::vector<std::uint32_t> place_of_op_, place_of_input_;
  std::vector<std::vector<ir::OpId>> ops_of_layer_;
  std::vector<std::vector<std::uint32_t>> inputs_of_layer_;
  std::map<std::uint32_t, std::unique_ptr<transform::Program>> smaller_;
};

}  // namespace pando::search
