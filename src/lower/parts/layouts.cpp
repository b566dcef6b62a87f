#include "lower/parts/layouts.h"

#include "base/check.h"
#include "lower/parts/telling.h"
#include "lower/terms/element_types.h"

#include <pando/mapping.hpp>
#include <poputil/TileMapping.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Views and calls that a preference is followed through. Deeper ones are no longer the same data.
constexpr int kMaxDepth = 24;
// Element-wise ops and graphs between a value and one that it is combined with.
constexpr int kMaxPartnerDepth = 6;
// Views of a gradient that are looked at.
constexpr std::size_t kMostViews = 8;

}  // namespace

// Of an op that carries graphs: as the graph's input likes to lie.
LayoutPreference Layouts::preference_of_graph(ValueId v, OpId op, std::uint32_t index, int depth, Seen& seen) {
  const auto graphs = module_.graphs(op);
  GraphId g = graphs[0];
  std::size_t input = index;
  if (module_.row(op).control == ir::Control::branch) {
    if (index == 0) return {};
    const auto then_inputs = static_cast<std::size_t>(module_.attributes(op).integer("then_inputs"));
    input = index - 1;
    if (input >= then_inputs) {
      g = graphs[1];
      input -= then_inputs;
    }
  }
  if (input >= module_.graph(g).inputs.size()) return {};
  const ValueId inner = module_.graph(g).inputs[input];
  if (!places_.lie_together(inner, v)) return {};
  if (!analysis_.is_function(g)) return preference_of(inner, depth + 1, seen);
  LayoutPreference preference{.tensor = places_.top().clone(function_inputs_(g)[input], name_of(preferred_)), .of_function = true};
  if (decisions_) preference.why = fmt::format("as graph {} has its input {}", module_.graph(g).name, input);
  return preference;
}

// What is read at another place is copied there: how it likes to lie there is nothing to the value.
LayoutPreference Layouts::preference_through(ValueId v, OpId op, std::uint32_t index, int depth, Seen& seen) {
  if (!module_.graphs(op).empty()) return preference_of_graph(v, op, index, depth, seen);
  poplar::Graph& here = places_.graph_at(module_.type_of(v).place);
  const Row* row = find_row(module_.row(op).name);
  if (row == nullptr || (!module_.row(op).moves && &places_.graph_of(op) != &here)) return {};
  if (row->layout) {
    LayoutPreference preference{.tensor = row->layout({module_, op, index, places_.graph_of(op), libraries_, name_of(preferred_)}),
                                .parts = row->parts};
    if (preference.tensor.valid()) {
      if (decisions_)
        preference.why = fmt::format("as {} '{}' likes its operand {}", text_of(module_, op), name_of(module_.result(op)), index);
      return preference;
    }
  }
  if (row->unview && index == 0) {
    LayoutPreference preference = preference_of(module_.result(op), depth + 1, seen);
    if (preference.tensor.valid()) {
      preference.tensor = row->unview(module_, op, preference.tensor);
      return preference;
    }
  }
  if (row->expression && module_.type_of(module_.result(op)).shape == module_.type_of(v).shape)
    return preference_of(module_.result(op), depth + 1, seen);
  return {};
}

// A tensor of the value's shape; its element type may be that of what is made of it.
LayoutPreference Layouts::preference_of(ValueId v, int depth, Seen& seen) {
  if (depth > kMaxDepth || seen.contains(v, depth)) return {};
  for (const auto& [op, index] : analysis_.users(v)) {
    LayoutPreference preference = preference_through(v, op, index, depth, seen);
    if (!preference.tensor.valid()) continue;
    const poplar::Type type = element_type(module_.type_of(v).dtype);
    if (preference.tensor.elementType() != type) preference.tensor = places_.top().clone(type, preference.tensor, name_of(preferred_));
    return preference;
  }
  seen.add(v, depth);
  return {};
}

LayoutPreference Layouts::preference(ValueId v) {
  Seen seen;
  preferred_ = v;
  return preference_of(v, 0, seen);
}

ValueId Layouts::inner_input(OpId op, std::uint32_t index) const {
  const auto graphs = module_.graphs(op);
  if (graphs.size() != 1 || analysis_.is_function(graphs[0]) || module_.row(op).control == ir::Control::branch) return {};
  const auto& inputs = module_.graph(graphs[0]).inputs;
  return index < inputs.size() ? inputs[index] : ValueId();
}

// A value of the same shape that this one is combined with, be it after other element-wise ops or in a graph: an optimiser's state is
// combined with a weight when the update is done.
ValueId Layouts::partner_of(ValueId v, const Accept& accept, int depth, Seen& seen) const {
  const ir::Shape& shape = module_.type_of(v).shape;
  if (depth > kMaxPartnerDepth || seen.contains(v, depth)) return {};
  for (const auto& [op, index] : analysis_.users(v)) {
    if (const ValueId inner = inner_input(op, index); inner.valid()) {
      const auto operands = module_.operands(op);
      const auto& inputs = module_.graph(module_.graphs(op)[0]).inputs;
      const auto at = [&](ValueId w) { return static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), w) - inputs.begin()); };
      const ValueId found =
          partner_of(inner, [&](ValueId w) { return at(w) < operands.size() && accept(operands[at(w)]); }, depth + 1, seen);
      if (found.valid()) return operands[at(found)];
      continue;
    }
    if (!module_.graphs(op).empty()) continue;
    for (ValueId other : module_.operands(op)) {
      if (other != v && module_.type_of(other).shape == shape && accept(other)) return other;
    }
    if (!is_elementwise(find_row(module_.row(op).name)) || module_.type_of(module_.result(op)).shape != shape) continue;
    if (const ValueId found = partner_of(module_.result(op), accept, depth + 1, seen); found.valid() && found != v) return found;
  }
  seen.add(v, depth);
  return {};
}

ValueId Layouts::partner(ValueId v, const Accept& accept) const {
  Seen seen;
  return partner_of(v, accept, 0, seen);
}

// The layout of a tensor of the same shape that it is combined with, on the same device: sums over devices combine others, too.
Tensor Layouts::partner_layout(ValueId v) {
  const ir::Device here = module_.type_of(v).place.device;
  const auto is_near = [&](ValueId w) {
    const ir::Device there = module_.type_of(w).place.device;
    return !here.known() || !there.known() || here == there;
  };
  const ValueId other = partner(v, [&](ValueId w) { return w != v && storages_.has_slot(w) && is_near(w); });
  if (!other.valid()) return {};
  if (decisions_) decisions_.give_reason(v, fmt::format("as '{}'", name_of(other)));
  return places_.top().clone(element_type(module_.type_of(v).dtype), storages_.own_slot(other).tensor, name_of(v));
}

ValueId Layouts::viewed(ValueId v) const {
  for (OpId producer = module_.value(v).producer; producer.valid(); producer = module_.value(v).producer) {
    const Row* row = find_row(module_.row(producer).name);
    if (row == nullptr || row->unview == nullptr || row->unview == keeps_layout) break;
    v = module_.operand(producer, 0);
  }
  return v;
}

// The weight whose gradient a product computes, told by the operand's gradient: both are products with the gradient of the result.
ValueId Layouts::weight_of_gradient(ValueId v) const {
  const ir::Type& type = module_.type_of(v);
  std::vector<ValueId> views{viewed(module_.operand(module_.value(v).producer, 1))};
  for (std::size_t i = 0; i < views.size() && i < kMostViews; ++i)
    for (const auto& [op, index] : analysis_.users(views[i])) {
      const Row* row = find_row(module_.row(op).name);
      if (row == nullptr || module_.results(op).size() != 1) continue;
      if (row->unview != nullptr && index == 0) views.push_back(module_.result(op));
      if (module_.row(op).product != ir::Product::matrices || index != 0) continue;
      const ValueId w = viewed(module_.operand(op, 1));
      if (module_.type_of(w).shape == type.shape && storages_.has_slot(w) && storages_.is_home(w)) return w;
    }
  return {};
}

std::optional<unsigned> Layouts::tile_to_begin_at(ValueId v) {
  ValueId with = partner(v, [&](ValueId w) { return w != v && storages_.has_slot(w) && storages_.is_home(w); });
  if (!with.valid()) with = weight_of_gradient(v);
  if (!with.valid() || storages_.own_slot(with).tensor.numElements() == 0) return std::nullopt;
  const auto first =
      pando::tile_intervals(places_.graph_at(module_.type_of(v).place), storages_.own_slot(with).tensor.flatten().slice(0, 1));
  return first.empty() ? std::nullopt : std::optional(first[0].tile);
}

Tensor Layouts::new_tensor(ValueId v, bool* as_partner) {
  const ir::Type& type = module_.type_of(v);
  if (as_partner != nullptr) *as_partner = false;
  if (ir::elements_of(type.shape) > 1) {
    LayoutPreference liked = preference(v);
    if (liked.tensor.valid()) {
      if (decisions_) decisions_.give_reason(v, std::move(liked.why));
      return liked.tensor;
    }
    if (const Tensor t = partner_layout(v); t.valid()) {
      if (as_partner != nullptr) *as_partner = true;
      return t;
    }
  }
  ir::Place place = type.place;
  // Who reads it decides where nothing was said.
  for (const auto& [op, index] : analysis_.users(v)) {
    if (place.device.known()) break;
    place = places_.place_of(op);
  }
  if (decisions_) decisions_.give_reason(v, "spread linearly");
  return add_linear(places_.graph_at(place), type, name_of(v));
}

// Constants belong to the whole program; they are made when the first op wants them as a tensor.
void Layouts::make_constant(ValueId v) {
  const OpId producer = module_.value(v).producer;
  PANDO_CHECK(producer.valid() && module_.row(producer).constant);
  const ir::HostTensor& data = module_.blob(std::get<ir::BlobId>(*module_.attributes(producer).find("data")));
  poplar::Graph& graph = places_.graph_of(producer);
  const Tensor t = add_constant(graph, data, name_of(v));
  const Tensor liked = data.elements() > 1 ? preference(v).tensor : Tensor();
  if (liked.valid()) {
    places_.top().setTileMapping(t, places_.top().getTileMapping(liked));
  } else {
    poputil::mapTensorLinearly(graph, t);
  }
  storages_.define(v, storages_.read_only_slot(t));
  storages_.share(v);
}

}  // namespace pando::lower
