#include "transform/gradient/autodiff.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "transform/gradient/gradient_graph.h"
#include "transform/gradient/missing_gradient.h"
#include "transform/unless_rejected.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

void reject_modifying_ops(const Module& m, GraphId graph) {
  for (OpId o : m.graph(graph).ops) {
    if (new_versions(m, o).empty()) continue;
    throw_model_error(
        ErrorClass::popart, "modifying-op",
        fmt::format("The graph {} contains a modifying op, {}{} '{}', and cannot be differentiated; use the form that makes a new tensor",
                    m.graph(graph).name, m.row(o).name, m.op(o).in_place ? "_" : "", m.name_of(o)),
        m.location_text(o));
  }
}

void reject_foreign(const Module& m, GraphId graph, std::span<const ValueId> values, std::string_view what) {
  for (ValueId v : values) {
    if (m.value(v).graph == graph) continue;
    reject(ErrorClass::popart, "tensor-of-another-graph", "{}: '{}' is a tensor of graph '{}', not of '{}'", what, m.name_of(v),
           m.graph(m.value(v).graph).name, m.graph(graph).name);
  }
}

void reject_missing(const GradientGraph& g, const GradientInfo& info, std::span<const ValueId> provided,
                    std::span<const ValueId> required) {
  const Module& m = g.module();
  std::string text;
  for (ValueId v : required) {
    const bool found = std::any_of(info.outputs.begin(), info.outputs.end(), [&](const Connection& c) { return c.value == v; });
    if (!found) text += fmt::format("\n  '{}': {}", m.name_of(v), why_missing(g, info.forward, provided, v));
  }
  if (text.empty()) return;
  reject(ErrorClass::popart, "missing-gradient", "graph '{}': required gradients do not exist; leave them out of grads_required{}",
         m.graph(info.forward).name, text);
}

}  // namespace

GradientInfo Differentiator::differentiate(GraphId graph, std::span<const ValueId> provided, std::span<const ValueId> required) {
  const Module& m = builder_.module();
  reject_modifying_ops(m, graph);
  GradientGraph g(*this, graph);
  if (options_.recompute) g.recompute(options_.saved);
  if (!g.flows(provided, required)) reject_missing(g, {graph, {}, {}, {}}, provided, required);
  GradientInfo info = g.build(provided, required);
  reject_missing(g, info, provided, required);
  return info;
}

const GradientInfo* Differentiator::of_carried(GraphId graph, const std::vector<ValueId>& provided, const std::vector<ValueId>& required) {
  if (const auto it = options_.called.find(graph); it != options_.called.end()) {
    if (it->second.forward != graph) {
      reject(ErrorClass::value, "gradient-of-another-graph", "called_graphs_grad_info: '{}' has the gradient of '{}'",
             builder_.module().graph(graph).name, builder_.module().graph(it->second.forward).name);
    }
    return &it->second;
  }
  for (const auto& e : entries_) {
    if (e->graph == graph && e->provided == provided && e->required == required) return e->info ? &*e->info : nullptr;
  }
  entries_.push_back(std::make_unique<Entry>(Entry{graph, provided, required, {}}));
  Entry& entry = *entries_.back();
  if (required.empty() || provided.empty()) return nullptr;
  GradientGraph g(*this, graph);
  if (!g.flows(provided, required)) return nullptr;
  if (options_.unsafe.contains(graph)) {
    reject(ErrorClass::popart, "unsafe-to-autodiff",
           "graph '{}' has been marked as unsafe to autodiff; give its gradient (called_graphs_grad_info)",
           builder_.module().graph(graph).name);
  }
  reject_modifying_ops(builder_.module(), graph);
  GradientInfo info = g.build(provided, required);
  if (!info.outputs.empty()) entry.info = std::move(info);
  return entry.info ? &*entry.info : nullptr;
}

std::vector<GradientInfo> Differentiator::carried() const {
  std::vector<GradientInfo> all;
  for (const auto& e : entries_) {
    if (e->info) all.push_back(*e->info);
  }
  return all;
}

namespace {

std::vector<GradientInfo> all_gradients(Builder& builder, GraphId graph, const AutodiffOptions& options) {
  builder.finish();
  const Module& m = builder.module();
  const std::vector<ValueId> provided = options.provided.value_or(m.graph(graph).outputs);
  const std::vector<ValueId> required = options.required.value_or(m.graph(graph).inputs);
  if (required.empty()) reject(ErrorClass::popart, "no-gradient-required", "graph '{}': no gradient is required", m.graph(graph).name);
  if (provided.empty()) reject(ErrorClass::popart, "no-gradient-provided", "graph '{}': no gradient is provided", m.graph(graph).name);
  reject_foreign(m, graph, provided, "grads_provided");
  reject_foreign(m, graph, required, "grads_required");
  reject_foreign(m, graph, options.saved, "saved");
  Differentiator all(builder, options);
  std::vector<GradientInfo> infos{all.differentiate(graph, provided, required)};
  const std::vector<GradientInfo> carried = all.carried();
  infos.insert(infos.end(), carried.begin(), carried.end());
  return infos;
}

}  // namespace

std::vector<GradientInfo> autodiff_all(Builder& builder, GraphId graph, const AutodiffOptions& options) {
  return unless_rejected(builder, [&] { return all_gradients(builder, graph, options); });
}

GradientInfo autodiff(Builder& builder, GraphId graph, const AutodiffOptions& options) {
  return autodiff_all(builder, graph, options).front();
}

}  // namespace pando::transform
