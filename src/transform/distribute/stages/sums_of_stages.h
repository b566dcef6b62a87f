// Gradients of a weight that several stages use, brought together once for all microbatches.
#pragma once

#include "transform/distribute/layout/layout.h"

#include <cstdint>
#include <vector>

namespace pando::transform {

// Additions in a row whose terms are made on several stages. Instead of being sent for every microbatch, the terms are added up where they
// are made, and what each rank has is brought together behind the last microbatch.
struct SumOfStages {
  ir::OpId last;
  std::vector<ir::ValueId> terms;
  // All of its additions.
  std::vector<ir::OpId> ops;
};

// `home`: by value, the stage that makes it.
std::vector<SumOfStages> sums_of_stages(const Program& program, const Layout& layout, const std::vector<std::int32_t>& home);

}  // namespace pando::transform
