// Building: tensors, graphs, ops, streams, remote buffers, and the contexts that ops are made in.
#include "native/native.h"

#include "ir/error.h"
#include "ir/op_table.h"

namespace pando::python {

namespace {

ir::Type type_from(int dtype, ir::Shape shape, ir::Shape meta_shape) {
  ir::Type type = ir::tensor_type(static_cast<ir::DType>(dtype), std::move(shape));
  type.meta_shape = std::move(meta_shape);
  return type;
}

std::vector<ir::TensorId> tensors_from(const Indices& operands) {
  std::vector<ir::TensorId> out;
  for (Index i : operands) out.push_back(tensor_id(i));
  return out;
}

// Numbers that come from objects of another kind name nothing.
void check_numbers(const Program& p, std::string_view name, const Indices& operands, const ir::Attributes& attributes,
                   const Indices& graphs) {
  const ir::Module& m = p.builder.module();
  const auto check = [&](bool there, std::string_view what) {
    if (!there) ir::reject(ir::ErrorClass::type, "no-such-object", "{}: an argument is not a {} of this program", name, what);
  };
  for (Index i : operands) check(i < p.builder.tensor_count(), "tensor");
  for (Index i : graphs) check(i < m.graph_count(), "graph");
  for (const auto& [key, value] : attributes.items()) {
    if (const auto* s = std::get_if<ir::HostStreamId>(&value)) check(s->value < m.stream_count(), "stream");
    if (const auto* b = std::get_if<ir::BufferId>(&value)) check(b->value < m.buffer_count(), "remote buffer");
  }
}

Indices add_op(Program& p, Index graph, std::string_view name, const Indices& operands, const nb::dict& attributes, const Indices& graphs,
               bool in_place, std::string_view output_name) {
  p.module().set_current_location(p.module().location(Locations::find()));
  const ir::Attributes converted = attributes_from(ir::row_of(ir::op_kind(name)), attributes);
  check_numbers(p, name, operands, converted, graphs);
  std::vector<ir::GraphId> graph_ids;
  for (Index g : graphs) graph_ids.push_back(graph_id(g));
  return numbers_of(p.builder.op(graph_id(graph), name, tensors_from(operands), converted, graph_ids, in_place, output_name));
}

struct VariableArguments {
  std::vector<std::int64_t> assignment;
  bool all_replicas = false;
  std::optional<Index> buffer;
  std::int64_t row = 0;
  bool sharded = false;
};

// `shape` is one replica's; `data` has a dimension of groups in front where there are several.
Index add_variable(Program& p, nb::handle data, int dtype, ir::Shape data_shape, ir::Shape shape, ir::Shape meta_shape,
                   std::string_view name, const VariableArguments& a) {
  ir::State state;
  state.type = p.module().type(type_from(dtype, std::move(shape), std::move(meta_shape)));
  state.grouping = ir::ReplicaGrouping::of_assignment(a.assignment);
  state.retrieval = a.all_replicas ? ir::Retrieval::all_replicas : ir::Retrieval::one_per_group;
  if (a.buffer) state.buffer = ir::BufferId(*a.buffer);
  state.row = a.row;
  state.sharded = a.sharded;
  const Index value =
      p.builder.add_variable(std::move(state), host_tensor_from(data, static_cast<ir::DType>(dtype), std::move(data_shape)), name).value;
  p.module().set_location(ir::StateId(static_cast<ir::StateId::rep>(p.module().state_count() - 1)), p.module().location(Locations::find()));
  return value;
}

Index add_constant(Program& p, Index graph, nb::handle data, int dtype, ir::Shape shape, std::string_view name) {
  p.module().set_current_location(p.module().location(Locations::find()));
  // Constants are data, not work: nothing is ordered by them.
  return p.builder.add_constant(graph_id(graph), host_tensor_from(data, static_cast<ir::DType>(dtype), std::move(shape)), name).value;
}

// (number, name)
std::pair<Index, std::string> add_stream(Program& p, std::string name, bool to_device, int dtype, ir::Shape shape) {
  ir::HostStream s;
  s.name = p.module().unique_name(p.module().main_graph(), name);
  const std::string unique = s.name;
  s.direction = to_device ? ir::HostStream::Direction::host_to_device : ir::HostStream::Direction::device_to_host;
  s.dtype = static_cast<ir::DType>(dtype);
  s.shape = std::move(shape);
  return {p.module().add_stream(std::move(s)).value, unique};
}

Index add_buffer(Program& p, std::int64_t number, int dtype, ir::Shape shape, std::int64_t entries) {
  ir::RemoteBuffer b;
  b.number = number;
  b.dtype = static_cast<ir::DType>(dtype);
  b.shape = std::move(shape);
  b.entries = entries;
  return p.module().add_buffer(std::move(b)).value;
}

void set_buffer(Program& p, Index buffer, int dtype, ir::Shape shape, std::int64_t entries, ir::Shape meta_shape) {
  ir::RemoteBuffer& b = p.module().buffer(ir::BufferId(buffer));
  b.dtype = static_cast<ir::DType>(dtype);
  b.shape = std::move(shape);
  b.entries = entries;
  b.meta_shape = std::move(meta_shape);
}

void bind_graphs(nb::class_<Program>& c) {
  c.def("create_graph", [](Program& p, std::string name) { return p.builder.create_graph(std::move(name)).value; }, nb::arg("name"));
  c.def(
      "add_input",
      [](Program& p, Index graph, int dtype, ir::Shape shape, std::string_view name, bool by_ref, ir::Shape meta_shape,
         std::optional<std::int32_t> device) {
        ir::Type type = type_from(dtype, std::move(shape), std::move(meta_shape));
        if (device) type.place.device = ir::Device{*device}, type.place.tiles = ir::TileSet::compute;
        return p.builder.add_input(graph_id(graph), type, name, by_ref).value;
      },
      nb::arg("graph"), nb::arg("dtype"), nb::arg("shape"), nb::arg("name"), nb::arg("by_ref") = false, nb::arg("meta_shape") = ir::Shape(),
      nb::arg("device") = nb::none());
  c.def(
      "add_output", [](Program& p, Index graph, Index t) { p.builder.add_output(graph_id(graph), tensor_id(t)); }, nb::arg("graph"),
      nb::arg("tensor"));
  c.def("graph_count", [](Program& p) { return p.module().graph_count(); });
  c.def("graph_name", [](Program& p, Index graph) { return p.module().graph(graph_id(graph)).name; }, nb::arg("graph"));
  c.def(
      "graph_named",
      [](Program& p, std::string_view name) -> std::optional<Index> {
        const auto g = p.module().graph_named(name);
        return g ? std::optional<Index>(g->value) : std::nullopt;
      },
      nb::arg("name"));
  c.def("graph_inputs", [](Program& p, Index graph) { return numbers_of(p.builder.inputs(graph_id(graph))); }, nb::arg("graph"));
  c.def("graph_outputs", [](Program& p, Index graph) { return numbers_of(p.builder.outputs(graph_id(graph))); }, nb::arg("graph"));
  c.def("graph_by_ref", [](Program& p, Index graph) { return p.module().graph(graph_id(graph)).by_ref; }, nb::arg("graph"));
}

void bind_additions(nb::class_<Program>& c) {
  c.def("op", add_op, nb::arg("graph"), nb::arg("name"), nb::arg("operands"), nb::arg("attributes"), nb::arg("graphs") = Indices(),
        nb::arg("in_place") = false, nb::arg("output_name") = "", "Adds an op; its results.");
  c.def("last_op", [](Program& p) { return p.builder.last_op().value; });
  c.def(
      "set_modified", [](Program& p, Index op, Index input) { p.builder.set_modified(ir::OpId(op), input); }, nb::arg("op"),
      nb::arg("input"));
  c.def(
      "add_variable",
      [](Program& p, nb::handle data, int dtype, ir::Shape data_shape, ir::Shape shape, ir::Shape meta_shape, std::string_view name,
         std::vector<std::int64_t> assignment, bool all_replicas, std::optional<Index> buffer, std::int64_t row, bool sharded) {
        return add_variable(p, data, dtype, std::move(data_shape), std::move(shape), std::move(meta_shape), name,
                            {std::move(assignment), all_replicas, buffer, row, sharded});
      },
      nb::arg("data"), nb::arg("dtype"), nb::arg("data_shape"), nb::arg("shape"), nb::arg("meta_shape"), nb::arg("name"),
      nb::arg("assignment"), nb::arg("all_replicas"), nb::arg("buffer").none(), nb::arg("row"), nb::arg("sharded"));
  c.def("add_constant", add_constant, nb::arg("graph"), nb::arg("data"), nb::arg("dtype"), nb::arg("shape"), nb::arg("name"));
  c.def("add_stream", add_stream, nb::arg("name"), nb::arg("to_device"), nb::arg("dtype"), nb::arg("shape"));
  c.def("add_buffer", add_buffer, nb::arg("number"), nb::arg("dtype"), nb::arg("shape"), nb::arg("entries"));
  c.def("set_buffer", set_buffer, nb::arg("buffer"), nb::arg("dtype"), nb::arg("shape"), nb::arg("entries"), nb::arg("meta_shape"));
}

void bind_contexts(nb::class_<Program>& c) {
  c.def("push_scope", [](Program& p, std::string_view name) { p.builder.push_scope(name); }, nb::arg("name"));
  c.def("pop_scope", [](Program& p) { p.builder.pop_scope(); });
  c.def(
      "set_place",
      [](Program& p, std::optional<std::int32_t> device, bool io_tiles, int context) {
        p.builder.set_device(device);
        p.builder.set_io_tiles(io_tiles);
        p.builder.set_context(static_cast<ir::Context>(context));
      },
      nb::arg("device").none(), nb::arg("io_tiles"), nb::arg("context"));
  c.def("push_sequence", [](Program& p, int mode) { p.builder.push_sequence(static_cast<ir::SequenceMode>(mode)); }, nb::arg("mode"));
  c.def("pop_sequence", [](Program& p) { p.builder.pop_sequence(); });
}

}  // namespace

void bind_program(nb::module_& m) {
  nb::class_<Program> c(m, "Program", nb::is_weak_referenceable(), "A module that is being built. Graph 0 is the main graph.");
  c.def(nb::init<std::int64_t>(), nb::arg("replicas"));
  c.def_prop_rw(
      "replicas", [](Program& p) { return p.module().replicas(); }, [](Program& p, std::int64_t n) { p.module().set_replicas(n); });
  bind_graphs(c);
  bind_additions(c);
  bind_contexts(c);
  bind_program_views(c);
  bind_rewriting(c);
  bind_gradients(c);
  bind_compositions(m, c);
}

}  // namespace pando::python
