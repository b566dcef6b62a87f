// The user's order between ops that lie on several devices.
#pragma once

#include "ir/module.h"
#include "project/policy.h"

#include <cstdint>
#include <vector>

namespace pando::project {

// Leaves an order between ops of one device as it is (a transfer lies on both of its own). Between two devices, what data do not bring
// becomes a message: an element of what the first op computed, or stored, goes to the second one's device, which waits for it. What no
// sample changes runs before the loop, and a window's update has its place in the window: no message is needed for those. Rejects
// (not_implemented) an order behind an op that stores what no sample changes: it has nothing to send. Behind insert_sends; `devices` grows
// with the ops.
void send_order(ir::Module& module, std::vector<std::int32_t>& devices, const Policy& policy);

}  // namespace pando::project
