// What programs do that look into a program, take ops out of it and put others in. popart._internal.ir is written on this.
#include "native/native.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/semantics/schedule.h"
#include "transform/expand.h"

#include <algorithm>

namespace pando::python {

namespace {

// The type that PopART gives such an op; ops that PopART does not have are named by their rows.
std::string op_type(Program& p, Index op) {
  const ir::OpRow& row = p.module().row(op_id(op));
  const std::string_view type = p.module().op(op_id(op)).in_place ? row.popart_in_place_type : row.popart_type;
  return std::string(type.empty() ? row.name : type);
}

// Places of operands that the op leaves another value in.
Indices op_modified(Program& p, Index op) {
  Indices out;
  const ir::OpRow& row = p.module().row(op_id(op));
  for (const ir::Modification& m : row.modifies) {
    if (m.operand >= 0) out.push_back(static_cast<Index>(m.operand));
  }
  if (out.empty() && p.module().op(op_id(op)).in_place && row.view == ir::View::none) out.push_back(0);
  for (std::int64_t i : p.module().attributes(op_id(op)).ints("modified")) out.push_back(static_cast<Index>(i));
  return out;
}

nb::list op_operand_tensors(Program& p, Index op) {
  nb::list out;
  const auto given = p.builder.operand_tensors(op_id(op));
  for (ir::TensorId t : given) out.append(t.value);
  if (!given.empty()) return out;
  for (ir::ValueId v : p.module().operands(op_id(op))) {
    const auto t = p.builder.tensor_of(v);
    out.append(t ? nb::cast(t->value) : nb::none());
  }
  return out;
}

std::optional<Index> tensor_named(Program& p, Index graph, std::string_view id) {
  for (std::size_t i = 0; i < p.builder.tensor_count(); ++i) {
    const ir::TensorId t = tensor_id(static_cast<Index>(i));
    if (p.builder.tensor(t).graph == graph_id(graph) && p.builder.id_of(t) == id) return t.value;
  }
  return std::nullopt;
}

std::vector<std::string> stream_names(Program& p) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < p.module().stream_count(); ++i)
    names.push_back(p.module().stream(ir::HostStreamId(static_cast<Index>(i))).name);
  return names;
}

// The same op with other operands, at the end of a graph.
Index clone_op(Program& p, Index original, Index graph, const Indices& operands, std::string_view output_name) {
  const ir::OpId from = op_id(original);
  std::vector<ir::TensorId> tensors;
  for (Index i : operands) tensors.push_back(tensor_id(i));
  ir::Attributes attributes;
  for (const auto& [name, value] : p.module().attributes(from).items()) {
    // New versions of operands are asked for again, below.
    if (name != "modified") attributes.set(name, value);
  }
  const ir::Ints modified = p.module().attributes(from).ints("modified");
  const std::vector<ir::GraphId> graphs(p.module().graphs(from).begin(), p.module().graphs(from).end());
  const ir::Op op = p.module().op(from);
  const auto device = p.builder.device();
  const bool io_tiles = p.builder.io_tiles();
  const ir::Context context = p.builder.context();
  if (op.result_count > 0) {
    const ir::Place place = p.module().type_of(p.module().result(from)).place;
    if (place.device.known()) p.builder.set_device(place.device.value);
    p.builder.set_io_tiles(place.tiles == ir::TileSet::io);
  }
  p.builder.set_context(op.context);
  p.module().set_current_location(op.location);
  p.builder.op(graph_id(graph), p.module().row(from).name, tensors, attributes, graphs, op.in_place, output_name);
  const ir::OpId made = p.builder.last_op();
  p.builder.set_device(device);
  p.builder.set_io_tiles(io_tiles);
  p.builder.set_context(context);
  for (std::int64_t i : modified) p.builder.set_modified(made, static_cast<std::uint32_t>(i));
  return made.value;
}

void set_op_attribute(Program& p, Index op, std::string_view name, nb::object value) {
  nb::dict one;
  one[nb::str(name.data(), name.size())] = value;
  const ir::Attributes converted = attributes_from(p.module().row(op_id(op)), one);
  ir::Attributes attributes;
  for (const auto& [key, old] : p.module().attributes(op_id(op)).items()) {
    if (key != name) attributes.set(key, old);
  }
  for (const auto& [key, now] : converted.items()) attributes.set(key, now);
  p.module().set_attributes(op_id(op), attributes);
}

void add_output_to_called(Program& p, Index graph, Index tensor) {
  p.builder.add_output_to_called(graph_id(graph), p.builder.value_of(tensor_id(tensor)));
}

void decompose_sum(Program& p, Index graph) {
  p.builder.finish();
  for (const auto& [sum, chain] : transform::decompose_sum(p.module(), graph_id(graph))) p.builder.hold_instead(sum, chain);
}

}  // namespace

void bind_rewriting(nb::class_<Program>& c) {
  c.def("op_type", op_type, nb::arg("op"), "PopART's type of the op.");
  c.def("op_modified", op_modified, nb::arg("op"));
  c.def("op_operand_tensors", op_operand_tensors, nb::arg("op"), "The tensors that were given; None for what no user's tensor stands for.");
  c.def("tensor_named", tensor_named, nb::arg("graph"), nb::arg("id"));
  c.def("stream_names", stream_names);
  c.def("decompose_sum", decompose_sum, nb::arg("graph"), "Sums of several tensors become additions, each as early as possible.");
  c.def(
      "graph_schedule", [](Program& p, Index graph) { return numbers_of(ir::least_live_order(p.module(), graph_id(graph))); },
      nb::arg("graph"));
  c.def(
      "op_source",
      [](Program& p, Index op) {
        const ir::LocationId at = p.module().op(op_id(op)).location;
        if (!at.valid()) return nb::make_tuple("", 0, "");
        const ir::Location& l = p.module().location(at);
        return nb::make_tuple(l.file, l.line, l.function);
      },
      nb::arg("op"), "(file, line, function)");
  c.def("clone_op", clone_op, nb::arg("op"), nb::arg("graph"), nb::arg("operands"), nb::arg("output_name"));
  c.def("set_op_attribute", set_op_attribute, nb::arg("op"), nb::arg("name"), nb::arg("value").none(), "None takes it away.");
  c.def(
      "add_after",
      [](Program& p, Index first, Index then) {
        p.module().graph(p.module().op(op_id(first)).graph).after.emplace_back(op_id(first), op_id(then));
      },
      nb::arg("first"), nb::arg("then"));
  c.def(
      "rename", [](Program& p, Index t, std::string_view name) { p.builder.rename(tensor_id(t), name); }, nb::arg("tensor"),
      nb::arg("name"));
  c.def("erase_op", [](Program& p, Index op) { p.builder.erase(op_id(op)); }, nb::arg("op"));
  c.def(
      "remove_output", [](Program& p, Index graph, std::size_t i) { p.builder.remove_output(graph_id(graph), i); }, nb::arg("graph"),
      nb::arg("index"));
  c.def(
      "set_output", [](Program& p, Index graph, std::size_t i, Index t) { p.builder.set_output(graph_id(graph), i, tensor_id(t)); },
      nb::arg("graph"), nb::arg("index"), nb::arg("tensor"));
  c.def(
      "unique_name", [](Program& p, Index graph, std::string_view wanted) { return p.module().unique_name(graph_id(graph), wanted); },
      nb::arg("graph"), nb::arg("wanted"));
  c.def("add_output_to_called", add_output_to_called, nb::arg("graph"), nb::arg("tensor"));
  c.def(
      "add_call_operand", [](Program& p, Index call, Index t) { p.builder.add_call_operand(op_id(call), tensor_id(t)); }, nb::arg("call"),
      nb::arg("tensor"));
}

}  // namespace pando::python
