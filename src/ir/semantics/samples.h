// Running rows on small cases: tests, gradient checks and fuzzing share it.
#pragma once

#include "ir/host_tensor.h"
#include "ir/rows/sample.h"

#include <cstdint>
#include <vector>

namespace pando::ir {

// Data for a sample's operands: its values where it gives some, otherwise numbers evenly spread over [low, high) from the seed (whole ones
// for
// integers; true where they are positive for bool).
std::vector<HostTensor> sample_data(const Sample& sample, std::uint64_t seed);

// What a row means for some operands: builds a graph of the one op and interprets it.
std::vector<HostTensor> evaluate(const OpRow& row, const std::vector<HostTensor>& operands, const Attributes& attributes = {},
                                 bool in_place = false);

}  // namespace pando::ir
