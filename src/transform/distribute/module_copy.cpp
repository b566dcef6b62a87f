#include "transform/distribute/module_copy.h"

namespace pando::transform {

using namespace ir;

void copy_tables(const Module& from, Module& to, bool with_streams) {
  to.set_replicas(from.replicas());
  for (std::size_t i = 0; i < from.blob_count(); ++i) to.add_blob(from.blob(BlobId(static_cast<std::uint32_t>(i))));
  for (std::size_t i = 0; with_streams && i < from.stream_count(); ++i)
    to.add_stream(from.stream(HostStreamId(static_cast<std::uint32_t>(i))));
  for (std::size_t i = 0; i < from.buffer_count(); ++i) to.add_buffer(from.buffer(BufferId(static_cast<std::uint32_t>(i))));
}

void copy_states(const Module& from, Module& to) {
  for (std::size_t i = 0; i < from.state_count(); ++i) {
    State s = from.state(StateId(static_cast<std::uint32_t>(i)));
    s.type = to.type(from.type(s.type));
    to.add_state(std::move(s));
  }
}

TypeId copy_type(const Module& from, TypeId type, Module& to, const std::function<Device(Device)>& device) {
  Type t = from.type(type);
  if (t.is_tensor()) t.place.device = device(t.place.device);
  for (TypeId& e : t.elements) e = copy_type(from, e, to, device);
  return to.type(t);
}

OpId copy_op(const Module& from, OpId op, Module& to, GraphId graph, std::span<const ValueId> operands, std::span<const GraphId> graphs,
             std::span<const TypeId> types) {
  const Op& old = from.op(op);
  to.set_current_context(old.context);
  to.set_current_location(old.location.valid() ? to.location(from.location(old.location)) : LocationId());
  const OpId copy = to.add_op(graph, old.kind, operands, from.attributes(op), graphs, types, from.name_of(op));
  to.op(copy).in_place = old.in_place;
  to.op(copy).implicit = old.implicit;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string& name = from.name_of(from.result(op, i));
    if (to.name_of(to.result(copy, i)) != name) to.set_name(to.result(copy, i), to.unique_name_id(graph, name));
  }
  return copy;
}

}  // namespace pando::transform
