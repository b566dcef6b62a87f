// Execution traces in the form of MLCommons Chakra, which other simulators (ASTRA-sim) read: protobuf messages, each behind its length.
#pragma once

#include "simulate/program.h"

#include <string>

namespace pando::simulate {

// The steps of one device: computing nodes with their time, collectives with their bytes, sends and receives with their partner; data
// dependences between them. Calls and repeats are written out.
std::string chakra_trace(const Program& program, std::int32_t device);

}  // namespace pando::simulate
