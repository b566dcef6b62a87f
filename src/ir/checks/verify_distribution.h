// Further rules, of a module whose devices are machines that each run their own part of it:
//
//   device-variable     a device variable is bound by a pmap that carries the graph, directly or not
//   device-range        devices are numbered from 0 to how many there are
//   group-device        what a collective joins lies on known devices, each once
//   stream-devices      a host stream is read, or written, by one device: no order is said between several
//
// Devices of a group come to its collectives in one order: the module's. Of programs that are one for each device, where the order can be
// another on each, rule C5 of project/checks/check.h says so: a collective is messages there.
#pragma once

#include "ir/checks/verify.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pando::ir {

// `devices`: how many there are, where that is known.
std::vector<Violation> verify_distribution(const Module& module, std::optional<std::int32_t> devices = {});

}  // namespace pando::ir
