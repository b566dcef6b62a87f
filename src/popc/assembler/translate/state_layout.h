// Where a tile has the fields of a vertex.
#pragma once

#include <vector>

#include "codelet/runtime/worker_memory.h"
#include "codelet/store/codelet.h"

namespace pando::popc {

// In the order of the fields: natural alignment, addresses of 32 bits.
std::vector<StateField> state_layout(const Codelet& codelet);

}  // namespace pando::popc
