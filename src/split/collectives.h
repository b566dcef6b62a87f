// Collectives of devices as ops on one device each, between which tensors are sent.
//
//     whole     every device sends its tensor to all others, and each combines all n of them: n - 1 tensors leave a device
//     in parts  every device sends part j to device j, which combines the n parts and sends the result to all others: n - 1 parts leave it,
//               and n - 1 results; together 2 (n - 1) / n tensors, as in a ring, in two messages one after the other, not 2 (n - 1)
//
// Either way an element is combined in the order of the operands: the bits are the same.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pando::split {

// Smaller tensors go whole: a message costs more than its bytes.
inline constexpr std::int64_t kPartBytes = 32 << 10;

// Is a reduction of `operands` tensors of this type cheaper in parts? Two devices send a whole tensor either way.
bool is_in_parts(const ir::Module& m, ir::TypeId type, std::size_t operands, std::int64_t least_bytes);

// The reduction `op` (all_reduce) of tensors of one shape, each on a device of its own; result i lies where operand i does. New ops at the
// end of the graph.
std::vector<ir::ValueId> all_reduce_in_parts(ir::Module& m, ir::GraphId graph, std::span<const ir::ValueId> operands, const std::string& op,
                                             const std::string& name);
// The reduction of `operands`, on the device that `place` says.
ir::ValueId reduce_at(ir::Module& m, ir::GraphId graph, std::span<const ir::ValueId> operands, const std::string& op,
                      const ir::Place& place, const std::string& name);

// Writes all_reduce ops of the main graph in parts, where that is cheaper.
void share_reductions(ir::Module& m, std::int64_t least_bytes);

}  // namespace pando::split
