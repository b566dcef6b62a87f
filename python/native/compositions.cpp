// Compositions (ir/construction/composition.h), for importers that are written in Python.
#include "ir/construction/builder_writer.h"
#include "ir/error.h"
#include "native/native.h"

namespace pando::python {

namespace {

Indices compose(Program& p, Index graph, std::string_view name, const std::vector<std::optional<Index>>& operands,
                const nb::dict& attributes) {
  p.module().set_current_location(p.module().location(Locations::find()));
  const ir::Composition* c = ir::find_composition(name);
  if (c == nullptr) ir::reject(ir::ErrorClass::value, "unknown-composition", "there is no composition '{}'", name);
  if (graph >= p.module().graph_count()) ir::reject(ir::ErrorClass::type, "no-such-object", "{}: there is no graph {}", name, graph);
  std::vector<ir::TensorId> tensors;
  for (const auto& t : operands) {
    if (t && *t >= p.builder.tensor_count()) ir::reject(ir::ErrorClass::type, "no-such-object", "{}: there is no tensor {}", name, *t);
    tensors.push_back(t ? ir::TensorId(*t) : ir::TensorId());
  }
  // Arguments are read as those of an op with these attributes.
  ir::OpRow row;
  row.name = c->name;
  row.attributes = c->attributes;
  Indices results;
  for (ir::TensorId t : ir::compose(p.builder, ir::GraphId(graph), name, tensors, attributes_from(row, attributes)))
    results.push_back(t.value);
  return results;
}

}  // namespace

void bind_compositions(nb::module_& m, nb::class_<Program>& c) {
  c.def("compose", compose, nb::arg("graph"), nb::arg("name"), nb::arg("operands"), nb::arg("attributes"),
        "Adds the ops of a composition; its results. None stands for an operand that is not given.");
  m.def(
      "compositions",
      [] {
        std::vector<std::tuple<std::string, std::string, std::vector<std::string>, std::vector<std::string>>> all;
        for (const ir::Composition* row : ir::composition_table()) {
          std::vector<std::string> operands, attributes;
          for (const ir::OperandRule& o : row->operands) {
            if (!o.name.empty()) operands.emplace_back(std::string(o.name) + (o.optional ? "?" : o.variadic ? "..." : ""));
          }
          for (const ir::AttributeRule& a : row->attributes) {
            if (!a.name.empty()) attributes.emplace_back(std::string(a.name) + (a.required ? "" : "?"));
          }
          all.emplace_back(std::string(row->name), std::string(row->doc), operands, attributes);
        }
        return all;
      },
      "(name, doc, operands, attributes) of each function that Program.compose writes; '?' stands behind what may be absent.");
}

}  // namespace pando::python
