// What no estimate of a strategy is below, known before the program over devices is made: each op in as many parts as the layout cuts it,
// at the efficiency that the machine has for the part, with transfers for nothing; forward ops that are computed again, twice.
//
// A rank of a pipeline does its work one op after the other. It idles before its first stage's first forward pass, whose ops wait for those
// of the stages before it; and, where backward passes are whole, behind its last one, while the stages before it do theirs. How long at the
// least, a microbatch that is alone in the pipeline shows.
#pragma once

#include "schedule/replay.h"
#include "simulate/costs/cost_model.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/stages/stages.h"

#include <utility>
#include <vector>

namespace pando::search {

// Of bounds: times are whole picoseconds, and bounds are sums in another order than what they bound.
inline constexpr double kTimesCaution = 1 - 1e-6;

class LeastTime {
 public:
  LeastTime(const transform::Program& program, const simulate::CostModel& costs);
  // Rejects (value) what the stages reject.
  double seconds(const transform::Strategy& strategy, const transform::Layout& layout);
  // What passes of stages cost for one microbatch; a transfer costs what the forward pass of one stage sends to another rank, of the stages
  // that send longest. Rejects (value) what the stages reject.
  schedule::Costs costs_of(const transform::Strategy& strategy, const transform::Layout& layout);

 private:
  // One microbatch on a stage, seconds.
  struct OfStage {
    double all = 0, forward = 0, weight_gradients = 0, updates = 0, idle_before = 0, idle_behind = 0;
    std::int32_t rank = 0;
  };
  double of_op(ir::OpId op, double parts);
  std::vector<OfStage> stages_of(const transform::Strategy& strategy, const transform::Layout& layout, const transform::Stages& stages);
  std::vector<ir::OpId> computed_again(const transform::Strategy& strategy, const transform::Layout& layout,
                                       const transform::Stages& stages) const;
  double longest_transfer(const transform::Strategy& strategy, const transform::Layout& layout, const transform::Stages& stages) const;

  const transform::Program& program_;
  const simulate::CostModel& costs_;
  // By op: parts and seconds.
  std::vector<std::vector<std::pair<double, double>>> known_;
};

}  // namespace pando::search
