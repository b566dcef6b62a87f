// Data that nobody has given: numbers from a seed.
#pragma once

#include "ir/host_tensor.h"

#include <cstdint>
#include <string_view>

namespace pando::ir {

// Floats between -1 and 1, integers 1 to 3, truth values: each depends on the seed, the name and the element's position alone, whoever asks
// and in which order.
void make_data(std::uint64_t seed, std::string_view name, HostTensor& to);

}  // namespace pando::ir
