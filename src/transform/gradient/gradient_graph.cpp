#include "transform/gradient/gradient_graph.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/semantics/infer.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

constexpr std::string_view kPrefix = "Gradient___";

}  // namespace

bool passes_gradients(const OpRow& row) {
  if (graph_op_gradient(row)) return true;
  return row.differentiable != Differentiable::no && row.differentiable != Differentiable::blocks;
}

bool carries_gradients(const Module& m, ValueId v) {
  const Type& t = m.type_of(v);
  return t.is_tensor() && (is_differentiable(t.dtype) || is_integer(t.dtype));
}

GradientGraph::GradientGraph(Differentiator& all, GraphId forward) : all_(all), module_(all.builder().module()) {
  info_.forward = forward;
  const auto& outputs = module_.graph(forward).outputs;
  outputs_.insert(outputs.begin(), outputs.end());
}

// --- which values matter --------------------------------------------------------------------------------------------------------------

void GradientGraph::mark_wanted(std::span<const ValueId> required) {
  slots_.reserve(module_.graph(info_.forward).ops.size() * 2);
  for (ValueId v : required) slots_[v].wanted = true;
  for (OpId o : module_.graph(info_.forward).ops) {
    const auto operands = module_.operands(o);
    if (module_.row(o).control == Control::call) {
      auto& inputs = wanted_inputs_[module_.graphs(o)[0]];
      inputs.resize(operands.size());
      for (std::size_t i = 0; i < operands.size(); ++i) inputs[i] = inputs[i] || wants(operands[i]);
    }
    if (!passes_gradients(module_.row(o))) continue;
    if (std::none_of(operands.begin(), operands.end(), [&](ValueId v) { return wants(v); })) continue;
    for (ValueId v : module_.results(o)) slots_[v].wanted = true;
  }
}

bool GradientGraph::wants(ValueId v) const {
  const auto it = slots_.find(v);
  return it != slots_.end() && it->second.wanted;
}

bool GradientGraph::flows(std::span<const ValueId> provided, std::span<const ValueId> required) {
  if (slots_.empty()) mark_wanted(required);
  std::unordered_set<ValueId> reached(provided.begin(), provided.end());
  const auto& ops = module_.graph(info_.forward).ops;
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
    if (!passes_gradients(module_.row(*it))) continue;
    const auto results = module_.results(*it);
    if (std::none_of(results.begin(), results.end(), [&](ValueId v) { return reached.contains(v); })) continue;
    for (ValueId v : module_.operands(*it)) {
      if (wants(v)) reached.insert(v);
    }
  }
  return std::any_of(required.begin(), required.end(), [&](ValueId v) { return reached.contains(v) && carries_gradients(module_, v); });
}

// --- gradients of values --------------------------------------------------------------------------------------------------------------

bool GradientGraph::has_gradient(ValueId v) const {
  const auto it = slots_.find(v);
  return it != slots_.end() && (!it->second.gradients.empty() || it->second.zero);
}

void GradientGraph::give(ValueId v, ValueId gradient) {
  const Type wanted = module_.type_of(v);
  // Values of a narrow type are made of wider ones in ways that only who wrote their gradient knows: it comes as it was computed.
  const bool other_float =
      is_floating(wanted.dtype) && is_floating(module_.type_of(gradient).dtype) && wanted.dtype != module_.type_of(gradient).dtype;
  if (other_float) gradient = emit("cast", {&gradient, 1}, {{"data_type", wanted.dtype}})[0];
  const Type& found = module_.type_of(gradient);
  if (found.dtype != wanted.dtype || found.shape != wanted.shape) {
    reject(ErrorClass::popart, "gradient-type", "the gradient of '{}' is a {}; it must have the type {}", module_.name_of(v),
           module_.types().to_string(found), module_.types().to_string(wanted));
  }
  Slot& slot = slots_[v];
  PANDO_CHECK(!slot.sum.valid());
  slot.gradients.push_back(gradient);
}

void GradientGraph::give_zeros(ValueId v) { slots_[v].zero = true; }

ValueId GradientGraph::gradient(ValueId v) {
  if (slots_[v].sum.valid()) return slots_[v].sum;
  const std::string name = fmt::format("{}{}", kPrefix, module_.name_of(v));
  std::vector<ValueId> gradients = slots_[v].gradients;
  if (gradients.empty()) gradients = {zeros(module_.type_of(v))};
  return slots_[v].sum = sum(std::move(gradients), name);
}

ValueId GradientGraph::sum(std::vector<ValueId> gradients, std::string_view name) {
  if (gradients.size() > 1) return emit("add_n", gradients, {}, {}, name)[0];
  const ValueId v = gradients[0];
  // What passes an op unchanged keeps its first name.
  const bool named = module_.name_of(v).starts_with(kPrefix) || taken_in_.contains(v) || !module_.value(v).producer.valid();
  if (!named) module_.set_name(v, module_.unique_name_id(info_.gradient, name));
  return v;
}

// --- writing --------------------------------------------------------------------------------------------------------------------------

std::vector<ValueId> GradientGraph::emit(std::string_view op, std::span<const ValueId> operands, const Attributes& attributes,
                                         std::span<const GraphId> graphs, std::string_view name) {
  const OpId id = infer_and_add(module_, info_.gradient, op, operands, attributes, graphs, false, place_, name);
  const auto results = module_.results(id);
  return {results.begin(), results.end()};
}

ValueId GradientGraph::zeros(const Type& type) {
  Attributes a{{"shape", Ints(type.shape)}, {"dtype", type.dtype}, {"init_type", std::string("zero")}};
  if (!type.meta_shape.empty()) a.set("meta_shape", Ints(type.meta_shape));
  const ValueId v = emit("init", {}, a)[0];
  Type placed = module_.type_of(v);
  if (type.place.device.known()) placed.place = type.place;
  module_.set_type(v, placed);
  return v;
}

ValueId GradientGraph::scalar(DType dtype, double value) {
  auto [it, added] = scalars_.try_emplace({dtype, value});
  if (!added) return it->second;
  const BlobId blob = module_.add_blob(HostTensor::filled(dtype, {}, value));
  const ValueId v = emit("constant", {}, {{"data", blob}})[0];
  // Where a constant lies is decided by who uses it.
  module_.set_type(v, tensor_type(dtype, {}));
  return it->second = v;
}

// --- values of the forward graph ------------------------------------------------------------------------------------------------------

ValueId GradientGraph::add_input(ValueId v, ConnectionKind kind) {
  const std::string name = (kind == ConnectionKind::fwd_grad ? std::string(kPrefix) : std::string()) + module_.name_of(v);
  const ValueId input = module_.add_input(info_.gradient, Type(module_.type_of(v)), name);
  builder().tensor_for(input);
  info_.inputs.push_back({v, kind});
  return input;
}

std::optional<ValueId> GradientGraph::leaf(ValueId v) {
  const OpId producer = module_.value(v).producer;
  if (producer.valid() && module_.op(producer).operand_count == 0 && module_.row(producer).effects == Effects::none &&
      module_.graphs(producer).empty()) {
    return std::nullopt;
  }
  if (producer.valid() && recomputes_ && !saved_.contains(v)) return std::nullopt;
  const bool visible = !producer.valid() || outputs_.contains(v);
  if (!visible && !may_grow_) return std::nullopt;
  if (!visible) extra_outputs_.push_back(v);
  const ValueId here = add_input(v, ConnectionKind::fwd);
  taken_in_.insert(here);
  return here;
}

// --- the graph ------------------------------------------------------------------------------------------------------------------------

void GradientGraph::visit(OpId op) {
  const auto any = [](std::span<const ValueId> list, auto test) { return std::any_of(list.begin(), list.end(), test); };
  if (!any(module_.results(op), [&](ValueId v) { return has_gradient(v); })) return;
  if (!any(module_.operands(op), [&](ValueId v) { return wants(v); })) return;
  const OpRow& row = module_.row(op);
  if (!passes_gradients(row)) return;
  module_.set_current_location(module_.op(op).location);
  place_ = module_.type_of(module_.result(op, 0)).place;
  if (const auto gradient = graph_op_gradient(row)) return gradient(*this, op);
  if (row.differentiable == Differentiable::zero) {
    for (ValueId v : std::vector<ValueId>(module_.operands(op).begin(), module_.operands(op).end())) {
      if (wants(v) && carries_gradients(module_, v)) give_zeros(v);
    }
    return;
  }
  if (row.differentiable == Differentiable::rejected) {
    throw_model_error(
        ErrorClass::popart, "no-gradient",
        fmt::format(
            "{} '{}' of graph '{}' has no gradient, and a required gradient needs one; detach its operand or leave the gradient out",
            row.name, module_.name_of(op), module_.graph(info_.forward).name),
        module_.location_text(op));
  }
  gradient_of_row(*this, op);
}

// A gradient that an op passed on unchanged gets a name and a tensor of its own where it goes out.
ValueId GradientGraph::own_gradient(ValueId v) {
  const ValueId sum = gradient(v);
  const std::string name = fmt::format("{}{}", kPrefix, module_.name_of(v));
  if (module_.value(sum).producer.valid() && module_.name_of(sum).starts_with(name)) return sum;
  return emit("identity", {&sum, 1}, {}, {}, name)[0];
}

void GradientGraph::recompute(std::span<const ValueId> saved) {
  recomputes_ = true;
  saved_.insert(saved.begin(), saved.end());
}

GradientInfo GradientGraph::build(std::span<const ValueId> provided, std::span<const ValueId> required) {
  const std::string name = unique_graph_name(module_, module_.graph(info_.forward).name + "_bwd");
  info_.gradient = builder().create_graph(name);
  module_.graph(info_.gradient).note = fmt::format("Gradient graph of {}", module_.graph(info_.forward).name);
  forward_values_.emplace(module_, info_.gradient, [this](ValueId v) { return leaf(v); });
  may_grow_ = builder().can_add_outputs(info_.forward);
  const LocationId location = module_.current_location();
  if (slots_.empty()) mark_wanted(required);
  for (ValueId v : provided) {
    const ValueId gradient = add_input(v, ConnectionKind::fwd_grad);
    if (carries_gradients(module_, v)) give(v, gradient);
  }
  const std::vector<OpId> ops = module_.graph(info_.forward).ops;
  for (auto it = ops.rbegin(); it != ops.rend(); ++it) visit(*it);
  module_.set_current_location(location);
  for (ValueId v : required) {
    if (!has_gradient(v)) continue;
    builder().add_output(info_.gradient, builder().tensor_for(own_gradient(v)));
    info_.outputs.push_back({v, ConnectionKind::fwd_grad});
  }
  builder().add_outputs_to_called(info_.forward, extra_outputs_);
  return info_;
}

}  // namespace pando::transform
