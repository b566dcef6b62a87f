// Between replicas: every replica runs the same program, so what differs is read with the replica's number.
#pragma once

#include "lower/parts/op_lowering.h"

#include "ir/replica_grouping.h"

namespace pando::lower {

// From attributes "stride" and "group_size" (absent: all replicas in one group).
ir::ReplicaGrouping grouping_of(OpLowering& o);
// Which member of its group this replica is: {1}, unsigned int.
poplar::Tensor member_number(OpLowering& o, const ir::ReplicaGrouping& grouping);
// The flat tensors of all members, in their order: {members, elements}.
poplar::Tensor gathered(OpLowering& o, const poplar::Tensor& t, const ir::ReplicaGrouping& grouping);
// Their combination by attribute "op", the same bits on every member: {elements}.
poplar::Tensor combined(OpLowering& o, const poplar::Tensor& all);
// This member's part of a tensor whose dimension `axis` counts members, without it.
poplar::Tensor own_part(OpLowering& o, const poplar::Tensor& parts, unsigned axis, const ir::ReplicaGrouping& grouping);
// The flattened tensor with zeros behind it: {parts, elements of each}.
poplar::Tensor in_parts(OpLowering& o, const poplar::Tensor& t, std::size_t parts, std::size_t size);

}  // namespace pando::lower
