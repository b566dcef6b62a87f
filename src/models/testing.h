// For tests: a program and what was made of it, run by the reference interpreter on the same data.
#pragma once

#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <string>

namespace pando::models::testing {

// Small integers for floats, so that sums are exact in any order; 1 for scalars of integers that divide. `smooth`: fractions instead.
std::vector<ir::HostTensor> data_for(const transform::Program& program, std::uint64_t seed, bool smooth = false);

// What differs between the sequential program's outputs and finals and the distributed one's: empty if nothing does by more than
// `tolerance` (relative to the largest element; 0: the same bits).
std::string difference(const transform::Program& program, const transform::Strategy& strategy, double tolerance, std::uint64_t seed,
                       bool smooth = false);

// Ops by name; tuples are not counted.
std::string histogram(const ir::Module& module);

}  // namespace pando::models::testing
