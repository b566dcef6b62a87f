// Remote buffers that several devices use. A device of a run has off-chip memory of its own, so such a buffer lies with one of them.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <vector>

namespace pando::split {

// A buffer lies with the device that uses it inside of graphs (loops, calls), else with the first one that uses it: rows that others load
// and store are loaded and stored there, and go between devices as any value does. The one program's order is the buffer's. `devices`: of
// each op of the main graph, as split/place.h gives them; it grows with the ops. Rejects (not_implemented) a buffer that several devices
// use inside of graphs.
void share_buffers(ir::Module& module, std::vector<std::int32_t>& devices);

}  // namespace pando::split
