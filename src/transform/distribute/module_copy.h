// Copies of a module's parts into another module. Ids of blobs, streams and buffers stay the same.
#pragma once

#include "ir/module.h"

#include <functional>
#include <span>
#include <vector>

namespace pando::transform {

// Data, streams, buffers, replicas. `to` must be new. Data are shared.
void copy_tables(const ir::Module& from, ir::Module& to, bool with_streams = true);
// Variables; inputs must be in the same order in both.
void copy_states(const ir::Module& from, ir::Module& to);
// The type of the other module that is the same but for the devices: `device` says which there are instead.
ir::TypeId copy_type(const ir::Module& from, ir::TypeId type, ir::Module& to, const std::function<ir::Device(ir::Device)>& device);
// One op on other operands; its results have the types given. Name, place in the user's program, context and form are the old op's.
ir::OpId copy_op(const ir::Module& from, ir::OpId op, ir::Module& to, ir::GraphId graph, std::span<const ir::ValueId> operands,
                 std::span<const ir::GraphId> graphs, std::span<const ir::TypeId> types);

}  // namespace pando::transform
