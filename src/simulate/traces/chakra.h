// Execution traces in the form of MLCommons Chakra, which other simulators (ASTRA-sim) read: protobuf messages, each behind its length.
#pragma once

#include "simulate/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pando::simulate {

// The devices that meet in each kind of collective: the groups, each sorted, in the order in which the program comes to them.
using ChakraGroups = std::vector<std::vector<std::int32_t>>;
ChakraGroups chakra_groups(const Program& program);
// JSON of numbers, from 1, and devices: what ASTRA-sim takes as its communicators' configuration (0 is all devices there).
std::string to_json(const ChakraGroups& groups);

// The steps of one device: computing nodes with their time, collectives with their bytes and the number of their group, sends and receives
// with their partner and a tag (which message of this pair it is); data dependences between them. Calls and repeats are written out.
std::string chakra_trace(const Program& program, const ChakraGroups& groups, std::int32_t device);

}  // namespace pando::simulate
