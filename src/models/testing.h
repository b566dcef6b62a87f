// For tests: a program and what was made of it, run by the reference interpreter on the same data.
#pragma once

#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::models::testing {

// Small integers for floats, so that sums are exact in any order; 1 for scalars of integers that divide. `smooth`: fractions instead.
std::vector<ir::HostTensor> data_for(const transform::Program& program, std::uint64_t seed, bool smooth = false);

// What differs between the sequential program's outputs and updated inputs and the distributed one's: empty if nothing does by more than
// `tolerance` (relative to the largest element; 0: the same bits).
std::string difference(const transform::Program& program, const transform::Strategy& strategy, double tolerance, std::uint64_t seed,
                       bool smooth = false);

// Ops by name; tuples are not counted.
std::string histogram(const ir::Module& module);
// Ops of one name in the main graph.
int count(const ir::Module& module, std::string_view name);

// The largest difference of two numbers; enormous if there are not as many tensors.
double farthest(const std::vector<ir::HostValue>& a, const std::vector<ir::HostValue>& b);

}  // namespace pando::models::testing
