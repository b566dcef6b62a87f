// Reading a program: tensors, ops, states, as tuples of plain values.
#include "native/native.h"

#include "ir/checks/verify.h"
#include "ir/op_row.h"
#include "ir/text/print.h"
#include "transform/devices/place_calls.h"

#include <algorithm>

namespace pando::python {

namespace {

nb::tuple tuple_of(const ir::Shape& shape) {
  nb::list items;
  for (std::int64_t d : shape) items.append(d);
  return nb::tuple(items);
}

// (element type, shape, shape of what it is a shard of, device or None, tile set or None)
nb::tuple describe(const ir::Type& type) {
  nb::object device = nb::none(), tiles = nb::none();
  if (type.place.device.known()) device = nb::cast(type.place.device.value);
  if (type.place.tiles != ir::TileSet::undefined) tiles = nb::cast(type.place.tiles == ir::TileSet::io ? "io" : "compute");
  return nb::make_tuple(static_cast<int>(type.dtype), tuple_of(type.shape), tuple_of(type.meta_shape), device, tiles);
}

// A new version of an operand that is not what the op's function returns: a time step that goes up.
bool is_side_result(Program& p, const ir::Builder::Tensor& t) {
  if (!t.first_value.valid()) return false;
  const ir::Value& v = p.module().value(t.first_value);
  if (!v.producer.valid() || v.index == 0) return false;
  const auto versions = ir::new_versions(p.module(), v.producer);
  return std::any_of(versions.begin(), versions.end(), [&](const ir::NewVersion& n) { return n.result == v.index; });
}

Indices tensors_of(Program& p, ir::GraphId graph) {
  Indices out;
  for (std::size_t i = 0; i < p.builder.tensor_count(); ++i) {
    const ir::Builder::Tensor& t = p.builder.tensor(tensor_id(static_cast<Index>(i)));
    if (t.graph == graph && !is_side_result(p, t)) out.push_back(static_cast<Index>(i));
  }
  return out;
}

// The tensor of a value, or None where no user's tensor was made for it.
nb::object tensor_or_none(Program& p, ir::ValueId v) {
  const auto t = p.builder.tensor_of(v);
  return t ? nb::cast(t->value) : nb::none();
}

nb::list op_operands(Program& p, Index op) {
  nb::list out;
  for (ir::ValueId v : p.module().operands(op_id(op))) out.append(tensor_or_none(p, v));
  return out;
}

nb::list op_results(Program& p, Index op) {
  nb::list out;
  for (ir::ValueId v : p.module().results(op_id(op))) out.append(tensor_or_none(p, v));
  return out;
}

nb::dict op_attributes(Program& p, Index op) {
  nb::dict out;
  for (const auto& [name, value] : p.module().attributes(op_id(op)).items()) out[name.c_str()] = attribute_to_python(value);
  return out;
}

// Where the first op lies that was given a tensor of which nothing is said: (device or None, tile set or None).
nb::tuple place_of_users(Program& p, Index t) {
  const ir::GraphId graph = p.builder.tensor(tensor_id(t)).graph;
  for (ir::OpId o : p.module().graph(graph).ops) {
    const auto given = p.builder.operand_tensors(o);
    if (std::find(given.begin(), given.end(), tensor_id(t)) == given.end()) continue;
    for (ir::ValueId v : p.module().results(o)) {
      const ir::Type& type = p.module().type_of(v);
      if (type.place.device.known()) return nb::tuple(nb::make_tuple(describe(type)[3], describe(type)[4]));
    }
  }
  return nb::make_tuple(nb::none(), nb::none());
}

void bind_tensors(nb::class_<Program>& c) {
  c.def("place_of_users", place_of_users, nb::arg("tensor"));
  c.def("tensor_id", [](Program& p, Index t) { return p.builder.id_of(tensor_id(t)); }, nb::arg("tensor"));
  c.def("tensor_name", [](Program& p, Index t) { return p.module().text(p.builder.tensor(tensor_id(t)).name); }, nb::arg("tensor"));
  c.def("tensor_graph", [](Program& p, Index t) { return p.builder.tensor(tensor_id(t)).graph.value; }, nb::arg("tensor"));
  c.def("tensor_kind", [](Program& p, Index t) { return static_cast<int>(p.builder.tensor(tensor_id(t)).kind); }, nb::arg("tensor"));
  c.def(
      "tensor_type", [](Program& p, Index t) { return describe(p.builder.type_of(tensor_id(t))); }, nb::arg("tensor"),
      "(element type, shape, meta shape, device or None, tile set or None)");
  c.def(
      "tensor_state",
      [](Program& p, Index t) -> std::optional<Index> {
        const ir::StateId s = p.builder.tensor(tensor_id(t)).state;
        return s.valid() ? std::optional<Index>(s.value) : std::nullopt;
      },
      nb::arg("tensor"));
  c.def(
      "tensor_bases", [](Program& p, Index t) { return numbers_of(p.builder.tensor(tensor_id(t)).bases); }, nb::arg("tensor"),
      "Of an alias: what it is a view of.");
  c.def(
      "tensor_producer",
      [](Program& p, Index t) -> std::optional<Index> {
        const ir::ValueId v = p.builder.tensor(tensor_id(t)).first_value;
        const ir::OpId producer = v.valid() ? p.module().value(v).producer : ir::OpId();
        return producer.valid() ? std::optional<Index>(producer.value) : std::nullopt;
      },
      nb::arg("tensor"));
  c.def(
      "tensor_version", [](Program& p, Index t) { return p.builder.tensor(tensor_id(t)).version; }, nb::arg("tensor"),
      "How often it was modified.");
  c.def("graph_tensors", [](Program& p, Index graph) { return tensors_of(p, ir::GraphId(graph)); }, nb::arg("graph"));
  c.def(
      "constant_data",
      [](Program& p, Index t, nb::handle into) {
        const ir::OpId op = p.module().value(p.builder.tensor(tensor_id(t)).first_value).producer;
        copy_to(into, p.module().blob(std::get<ir::BlobId>(*p.module().attributes(op).find("data"))));
      },
      nb::arg("tensor"), nb::arg("into"));
}

void bind_states(nb::class_<Program>& c) {
  c.def(
      "state_dtype", [](Program& p, Index s) { return static_cast<int>(p.module().type(p.module().state(ir::StateId(s)).type).dtype); },
      nb::arg("state"));
  c.def(
      "state_elements", [](Program& p, Index s) { return ir::elements_of(p.module().type(p.module().state(ir::StateId(s)).type).shape); },
      nb::arg("state"), "Of one replica.");
  c.def(
      "state_data",
      [](Program& p, Index s, nb::object into) {
        copy_to(into, p.module().blob(p.module().state(ir::StateId(s)).data));
        return into;
      },
      nb::arg("state"), nb::arg("into"), "Copies the host's data.");
}

void bind_ops(nb::class_<Program>& c) {
  c.def("graph_ops", [](Program& p, Index graph) { return numbers_of(p.module().graph(ir::GraphId(graph)).ops); }, nb::arg("graph"));
  c.def(
      "graph_after",
      [](Program& p, Index graph) {
        std::vector<std::pair<Index, Index>> out;
        for (const auto& [first, then] : p.module().graph(ir::GraphId(graph)).after) out.emplace_back(first.value, then.value);
        return out;
      },
      nb::arg("graph"), "(first, then): the order demanded beside the data's.");
  c.def("op_kind", [](Program& p, Index op) { return std::string(p.module().row(op_id(op)).name); }, nb::arg("op"));
  c.def("op_name", [](Program& p, Index op) { return p.module().name_of(op_id(op)); }, nb::arg("op"));
  c.def("op_graph", [](Program& p, Index op) { return p.module().op(op_id(op)).graph.value; }, nb::arg("op"));
  c.def(
      "op_graphs",
      [](Program& p, Index op) {
        const auto graphs = p.module().graphs(op_id(op));
        return numbers_of(std::vector<ir::GraphId>(graphs.begin(), graphs.end()));
      },
      nb::arg("op"));
  c.def("op_operands", op_operands, nb::arg("op"), "Tensors, or None for what no user's tensor stands for.");
  c.def("op_results", op_results, nb::arg("op"));
  c.def("op_attributes", op_attributes, nb::arg("op"));
  c.def(
      "op_flags",
      [](Program& p, Index op) {
        const ir::Op& o = p.module().op(op_id(op));
        return nb::make_tuple(static_cast<int>(o.context), o.in_place, o.implicit, o.erased);
      },
      nb::arg("op"), "(context, in place, implicit, erased)");
  c.def("op_location", [](Program& p, Index op) { return p.module().location_text(op_id(op)); }, nb::arg("op"));
  c.def(
      "given_operands",
      [](Program& p, Index op) {
        const auto given = p.builder.operand_tensors(op_id(op));
        return numbers_of(std::vector<ir::TensorId>(given.begin(), given.end()));
      },
      nb::arg("op"), "The tensors that were given to an op; none for what the builder or a transform made.");
  c.def("op_operand_count", [](Program& p, Index op) { return p.module().op(op_id(op)).operand_count; }, nb::arg("op"));
}

}  // namespace

void bind_program_views(nb::class_<Program>& c) {
  c.def(
      "text",
      [](Program& p, bool locations, bool elide_data, bool place_calls) {
        p.builder.finish();
        if (!place_calls) return ir::print(p.module(), {.locations = locations, .elide_data = elide_data});
        ir::Module placed(p.module());
        transform::place_calls(placed);
        return ir::print(placed, {.locations = locations, .elide_data = elide_data});
      },
      nb::arg("locations") = false, nb::arg("elide_data") = true, nb::arg("place_calls") = false,
      "The module's text; with place_calls, calls lie where their operands do.");
  c.def(
      "graph_text",
      [](Program& p, Index graph) {
        p.builder.finish();
        return ir::print_graph(p.module(), ir::GraphId(graph), {.elide_data = true});
      },
      nb::arg("graph"));
  c.def("op_text", [](Program& p, Index op) { return ir::print_op(p.module(), op_id(op), {.elide_data = true}); }, nb::arg("op"));
  c.def(
      "check",
      [](Program& p) {
        p.builder.finish();
        ir::check(p.module());
      },
      "Rejects a module that breaks a rule, with all violations.");
  bind_tensors(c);
  bind_states(c);
  bind_ops(c);
}

}  // namespace pando::python
