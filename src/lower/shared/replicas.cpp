#include "lower/shared/replicas.h"

#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"

#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>

#include <map>

namespace pando::lower {

using ir::ReplicaGrouping;
using poplar::Tensor;

ReplicaGrouping grouping_of(OpLowering& o) {
  const std::int64_t replicas = o.module().replicas(), stride = o.attributes().integer("stride", 1);
  return ReplicaGrouping(replicas, stride, o.attributes().integer("group_size", replicas / stride));
}

Tensor member_number(OpLowering& o, const ReplicaGrouping& grouping) {
  o.need(Library::popops);
  poplar::Graph& g = o.graph();
  ir::HostTensor members(ir::DType::uint32, {grouping.replicas(), 1});
  for (std::int64_t group = 0; group < grouping.groups(); ++group) {
    const auto list = grouping.members(group);
    for (std::size_t i = 0; i < list.size(); ++i) members.set_integer(list[i], static_cast<std::int64_t>(i));
  }
  const Tensor table = add_constant(g, members, o.name() + "/members"), replica = g.addReplicationIndexConstant(o.name() + "/replica");
  g.setTileMapping(table, 0);
  g.setTileMapping(replica, 0);
  return popops::dynamicSlice(g, table, replica.reshape({1}), {0}, {1}, o.program(), o.name() + "/member").reshape({1});
}

namespace {

// A group of one has its operand for a result: beside it, for either may be overwritten.
Tensor copied(OpLowering& o, const Tensor& t) {
  const Tensor copy = o.graph().clone(t, o.name() + "/copy");
  o.program().add(poplar::program::Copy(t, copy, false, o.name()));
  return copy;
}

}  // namespace

// In round k everybody gets the tensor of the member k before it; then the rounds are put in the members' order.
Tensor gathered(OpLowering& o, const Tensor& t, const ReplicaGrouping& grouping) {
  poplar::Graph& g = o.graph();
  const Tensor own = t.flatten();
  const auto n = static_cast<std::uint32_t>(grouping.size());
  if (n == 1) return copied(o, own).expand({0});
  std::vector<Tensor> rounds{own.expand({0})};
  for (std::uint32_t k = 1; k < n; ++k) {
    std::map<unsigned, unsigned> to;
    for (std::int64_t group = 0; group < grouping.groups(); ++group) {
      const auto members = grouping.members(group);
      for (std::uint32_t i = 0; i < n; ++i) to[static_cast<unsigned>(members[i])] = static_cast<unsigned>(members[(i + k) % n]);
    }
    const Tensor received = g.clone(own, o.name() + "/received");
    o.program().add(poplar::program::CrossReplicaCopy(own, received, to, {o.name()}));
    rounds.push_back(received.expand({0}));
  }
  const Tensor all = poplar::concat(rounds);
  ir::HostTensor back(ir::DType::uint32, {n});
  for (std::uint32_t j = 0; j < n; ++j) back.set_integer(j, n - j);
  const Tensor distances = add_constant(g, back, o.name() + "/distances");
  g.setTileMapping(distances, 0);
  const Any round = pe::Rem(pe::Add(pe::_1, pe::_2), pe::Const(n));
  const Tensor order = popops::map(g, round, {member_number(o, grouping), distances}, o.program(), o.name() + "/order");
  return popops::multiSlice(g, all, order.expand({1}), {0}, {1}, o.program(), {}, {}, o.name()).reshape(all.shape());
}

Tensor combined(OpLowering& o, const Tensor& all) {
  o.need(Library::popops);
  const std::string& op = o.attributes().text("op");
  popops::Operation operation = popops::Operation::ADD;
  if (op == "mul") operation = popops::Operation::MUL;
  if (op == "min") operation = popops::Operation::MIN;
  if (op == "max") operation = popops::Operation::MAX;
  if (op == "and") operation = popops::Operation::LOGICAL_AND;
  if (op == "or") operation = popops::Operation::LOGICAL_OR;
  if (op == "square_add") operation = popops::Operation::SQUARE_ADD;
  const Tensor sum = popops::reduce(o.graph(), all, {0}, operation, o.program(), o.name());
  if (op != "mean") return sum;
  const auto n = static_cast<float>(all.dim(0));
  const Any mean = pe::Cast(pe::Divide(pe::Cast(pe::_1, poplar::FLOAT), pe::Const(n)), sum.elementType());
  return popops::map(o.graph(), mean, {sum}, o.program(), o.name() + "/mean");
}

Tensor own_part(OpLowering& o, const Tensor& parts, unsigned axis, const ReplicaGrouping& grouping) {
  if (grouping.size() == 1) return copied(o, parts.squeeze({axis}));
  const Tensor member = member_number(o, grouping);
  return popops::dynamicSlice(o.graph(), parts, member, {axis}, {1}, o.program(), o.name()).squeeze({axis});
}

Tensor in_parts(OpLowering& o, const Tensor& t, std::size_t parts, std::size_t size) {
  Tensor flat = t.flatten();
  if (flat.numElements() < parts * size) {
    const ir::HostTensor zeros(o.operand_type(0).dtype, {static_cast<std::int64_t>(parts * size - flat.numElements())});
    const Tensor padding = add_constant(o.graph(), zeros, o.name() + "/padding");
    poputil::mapTensorLinearly(o.graph(), padding);
    flat = poplar::concat(flat, padding);
  }
  return flat.reshape({parts, size});
}

}  // namespace pando::lower
