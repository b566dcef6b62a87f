// What transfers carry between devices.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/simulate.h"

namespace pando::simulate {

// `map`: the body's devices on the machine. What is gathered goes from each operand to the one result; else a result that lies on a device
// without an operand comes from the first operand. Seconds.
void add_messages(const Body& body, const Step& step, const std::vector<std::int32_t>& map, double sent, double received,
                  std::vector<Message>& out);

}  // namespace pando::simulate
