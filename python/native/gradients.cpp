// Autodiff.
#include "native/native.h"

#include "transform/gradient/autodiff.h"
#include "transform/unless_rejected.h"

namespace pando::python {

namespace {

// (tensor, whether it is the gradient of it)
using Connections = std::vector<std::pair<Index, bool>>;
// (forward graph, gradient graph, inputs, outputs)
using Info = std::tuple<Index, Index, Connections, Connections>;

std::optional<std::vector<ir::ValueId>> values_from(Program& p, const std::optional<Indices>& tensors) {
  if (!tensors) return std::nullopt;
  std::vector<ir::ValueId> out;
  for (Index t : *tensors) out.push_back(p.builder.value_of(ir::TensorId(t)));
  return out;
}

std::vector<transform::Connection> connections_from(Program& p, const Connections& all) {
  std::vector<transform::Connection> out;
  for (const auto& [t, is_gradient] : all) {
    out.push_back(
        {p.builder.value_of(ir::TensorId(t)), is_gradient ? transform::ConnectionKind::fwd_grad : transform::ConnectionKind::fwd});
  }
  return out;
}

Connections connections_to(Program& p, const std::vector<transform::Connection>& all) {
  Connections out;
  for (const transform::Connection& c : all)
    out.emplace_back(p.builder.tensor_for(c.value).value, c.kind == transform::ConnectionKind::fwd_grad);
  return out;
}

// What a transform adds are tensors of users, too: graphs show them.
void name_tensors(Program& p, ir::GraphId graph) {
  for (ir::ValueId v : std::vector<ir::ValueId>(p.module().graph(graph).inputs)) p.builder.tensor_for(v);
  for (ir::OpId o : std::vector<ir::OpId>(p.module().graph(graph).ops)) {
    for (ir::ValueId v : std::vector<ir::ValueId>(p.module().results(o).begin(), p.module().results(o).end())) p.builder.tensor_for(v);
  }
}

std::vector<Info> autodiff(Program& p, Index graph, const std::optional<Indices>& provided, const std::optional<Indices>& required,
                           const std::vector<Info>& called) {
  return transform::unless_rejected(p.builder, [&] {
    transform::AutodiffOptions options;
    options.provided = values_from(p, provided);
    options.required = values_from(p, required);
    for (const auto& [forward, gradient, inputs, outputs] : called) {
      options.called[ir::GraphId(forward)] = {ir::GraphId(forward), ir::GraphId(gradient), connections_from(p, inputs),
                                              connections_from(p, outputs)};
    }
    std::vector<Info> out;
    for (const transform::GradientInfo& info : transform::autodiff_all(p.builder, ir::GraphId(graph), options)) {
      name_tensors(p, info.gradient);
      out.emplace_back(info.forward.value, info.gradient.value, connections_to(p, info.inputs), connections_to(p, info.outputs));
    }
    return out;
  });
}

}  // namespace

void bind_gradients(nb::class_<Program>& c) {
  c.def("autodiff", autodiff, nb::arg("graph"), nb::arg("provided").none(), nb::arg("required").none(), nb::arg("called"),
        "Gradient graphs: the graph's own, then those of graphs that it calls.");
}

}  // namespace pando::python
