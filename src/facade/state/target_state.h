// Makes targets of machines.
#pragma once

#include <string_view>

#include "facade/state/state.h"
#include "machine/machine.h"

namespace pando::facade {

// The state of a target of this machine; numbers that the machine does not have are derived from it.
poplar::core::TargetState target_state(poplar::TargetType type, const Machine& machine);
// Computes what is derived from the other members.
poplar::Target make_target(poplar::core::TargetState state);
// Throws invalid_machine_model, with the known names.
const Machine& machine_named(std::string_view name);
// Also takes the names of products ("IPU-POD16"): the machine that they are made of.
const Machine& machine_of_system(const std::string& name);
const Machine* find_machine_of_system(const std::string& name);  // null if neither a machine nor a product has the name
// The same target with another number of IPUs, or of tiles on each.
poplar::Target with_tiles(const poplar::Target& target, unsigned ipus, unsigned tiles_per_ipu);

}  // namespace pando::facade
