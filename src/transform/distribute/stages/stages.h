// Which stage of a pipeline runs each op.
#pragma once

#include "transform/distribute/layout/layout.h"
#include "transform/distribute/stages/sums_of_stages.h"

#include <cstdint>
#include <vector>

namespace pando::transform {

struct Stages {
  std::int32_t count = 1;
  // By op; -1 for ops that each stage has for itself, for `sgd`, which falls in one op for each stage, and for those of `sums`.
  std::vector<std::int32_t> of_op;
  // By value: where it is made, or where an input lies; -1 as above.
  std::vector<std::int32_t> home;
  // By value: made of scalars and constants alone; every stage that uses it makes it for itself.
  std::vector<bool> portable;
  // By op of the backward phase: only gradients of weights need it, no other stage does.
  std::vector<bool> for_weights;
  // The result lies on the first stage that has a term.
  std::vector<SumOfStages> sums;
};

// Forward ops go by whole layers, so that the sum of squares of the stages' costs is least, or as the strategy says; a backward op goes
// where what it needs of the forward pass is. Rejects (value): more stages than layers, layers_per_stage that do not add up.
Stages assign_stages(const Program& program, const Strategy& strategy, const Layout& layout, std::int32_t stages);

// By layer: operations of its forward ops, of those that run for every microbatch.
std::vector<double> layer_operations(const Program& program, const Layout& layout);
// How many layers each stage gets, so that the sum of the squares of the stages' costs is least. Of equal costs, earlier stages get more
// layers.
std::vector<std::uint32_t> even_groups(const std::vector<double>& cost, std::int32_t stages);

// Operations of an op, as its row counts them.
double operations_of(const ir::Module& module, ir::OpId op);

}  // namespace pando::transform
