// How new variables are mapped: as the first reader with a wish likes them, seen through views and calls; else linearly.
#include "lower/lowering.h"
#include "lower/terms/element_types.h"

#include <pando/mapping.hpp>
#include <pando/placing.hpp>
#include <poputil/TileMapping.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Views and calls that a wish is followed through. Deeper ones are no longer the same data.
constexpr int kMaxDepth = 24;
// Element-wise ops and graphs between a value and one that it is combined with.
constexpr int kMaxPartnerDepth = 6;
// Views of a gradient that are looked at.
constexpr std::size_t kMostViews = 8;
// Elements of a vector on one tile, at least.
constexpr unsigned kVectorPart = 64;

}  // namespace

Tensor Lowering::linear(poplar::Graph& graph, const ir::Type& type, const std::string& name) {
  const Tensor t = graph.addVariable(element_type(type.dtype), extents(type.shape), name);
  // What is added to all rows of a matrix is read in parts of its blocks' width: they lie whole.
  poplar::Graph::TileToTensorMapping mapping = type.shape.size() == 1
                                                   ? poputil::calcLinearTileMapping(graph, t.shape(), kVectorPart, kVectorPart)
                                                   : poputil::calcLinearTileMapping(graph, t);
  std::vector<pando::TileBytes> form;
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const poplar::Interval& i : mapping[tile]) form.push_back({tile, i.size() * graph.getTarget().getTypeSize(t.elementType())});
  poplar::Graph there = pando::rotated(graph, pando::choose_rotation(graph, form));
  there.setTileMapping(t, mapping);
  return t;
}

// What is read at another place is copied there: how it likes to lie there is nothing to the value.
Tensor Lowering::wish_through(ValueId v, OpId op, std::uint32_t index, int depth, Fruitless& fruitless) {
  const poplar::Graph& here = graph_at(module_.type_of(v).place);
  const auto graphs = module_.graphs(op);
  if (!graphs.empty()) {
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
    if (&graph_at(module_.type_of(module_.graph(g).inputs[input]).place) != &here) return {};
    if (is_function(g)) {
      const Tensor t = graph_.clone(function(g).inputs[input], name_of(v));
      wish_of_function_ = true;
      if (decisions_) why_wish_ = fmt::format("as graph {} has its input {}", module_.graph(g).name, input);
      return t;
    }
    return wish_of(module_.graph(g).inputs[input], depth + 1, fruitless);
  }
  const Row* row = find_row(module_.row(op).name);
  if (row == nullptr || (!module_.row(op).moves && &graph_of(op) != &here)) return {};
  if (row->layout) {
    const Tensor t = row->layout({module_, op, index, graph_of(op), *this, name_of(v)});
    if (t.valid() && decisions_)
      why_wish_ = fmt::format("as {} '{}' likes its operand {}", text_of(op), name_of(module_.result(op)), index);
    if (t.valid()) {
      parts_of_wish_ = row->parts;
      return t;
    }
  }
  if (row->unview && index == 0) {
    const Tensor t = wish_of(module_.result(op), depth + 1, fruitless);
    if (t.valid()) return row->unview(module_, op, t);
  }
  if (row->expression && module_.type_of(module_.result(op)).shape == module_.type_of(v).shape)
    return wish_of(module_.result(op), depth + 1, fruitless);
  return {};
}

// A tensor of the value's shape; its element type may be that of what is made of it.
Tensor Lowering::wish_of(ValueId v, int depth, Fruitless& fruitless) {
  if (depth > kMaxDepth || fruitless.seen(v, depth)) return {};
  wish_of_function_ = false;
  for (const auto& [op, index] : analysis_.users(v)) {
    const Tensor t = wish_through(v, op, index, depth, fruitless);
    if (!t.valid()) continue;
    const poplar::Type type = element_type(module_.type_of(v).dtype);
    return t.elementType() == type ? t : graph_.clone(type, t, name_of(v));
  }
  fruitless.add(v, depth);
  return {};
}

Tensor Lowering::layout_wish(ValueId v) {
  Fruitless fruitless;
  return wish_of(v, 0, fruitless);
}

ValueId Lowering::inner_input(OpId op, std::uint32_t index) const {
  const auto graphs = module_.graphs(op);
  if (graphs.size() != 1 || is_function(graphs[0]) || module_.row(op).control == ir::Control::branch) return {};
  const auto& inputs = module_.graph(graphs[0]).inputs;
  return index < inputs.size() ? inputs[index] : ValueId();
}

// A value of the same shape that this one is combined with, be it after other element-wise ops or in a graph: an optimiser's state is
// combined with a weight when the update is done.
ValueId Lowering::partner_of(ValueId v, const std::function<bool(ValueId)>& accept, int depth, Fruitless& fruitless) const {
  const ir::Shape& shape = module_.type_of(v).shape;
  if (depth > kMaxPartnerDepth || fruitless.seen(v, depth)) return {};
  for (const auto& [op, index] : analysis_.users(v)) {
    if (const ValueId inner = inner_input(op, index); inner.valid()) {
      const auto operands = module_.operands(op);
      const auto& inputs = module_.graph(module_.graphs(op)[0]).inputs;
      const auto at = [&](ValueId w) { return static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), w) - inputs.begin()); };
      const ValueId found =
          partner_of(inner, [&](ValueId w) { return at(w) < operands.size() && accept(operands[at(w)]); }, depth + 1, fruitless);
      if (found.valid()) return operands[at(found)];
      continue;
    }
    if (!module_.graphs(op).empty()) continue;
    for (ValueId other : module_.operands(op)) {
      if (other != v && module_.type_of(other).shape == shape && accept(other)) return other;
    }
    if (!is_elementwise(find_row(module_.row(op).name)) || module_.type_of(module_.result(op)).shape != shape) continue;
    if (const ValueId found = partner_of(module_.result(op), accept, depth + 1, fruitless); found.valid() && found != v) return found;
  }
  fruitless.add(v, depth);
  return {};
}

ValueId Lowering::partner(ValueId v, const std::function<bool(ValueId)>& accept) const {
  Fruitless fruitless;
  return partner_of(v, accept, 0, fruitless);
}

// The layout of a tensor of the same shape that it is combined with, on the same device: sums over devices combine others, too.
Tensor Lowering::partner_layout(ValueId v) {
  const ir::Device here = module_.type_of(v).place.device;
  const auto is_near = [&](ValueId w) {
    const ir::Device there = module_.type_of(w).place.device;
    return !here.known() || !there.known() || here == there;
  };
  const ValueId other = partner(v, [&](ValueId w) { return w != v && has_slot(w) && is_near(w); });
  if (!other.valid()) return {};
  if (decisions_) why_[v] = fmt::format("as '{}'", name_of(other));
  return graph_.clone(element_type(module_.type_of(v).dtype), slots_[other].tensor, name_of(v));
}

bool Lowering::is_home(ValueId v) const {
  const auto& storages = slots_[v].storages;
  return std::any_of(storages.begin(), storages.end(), [&](StorageId s) { return storages_[s].writable && !storages_[s].temporary; });
}

ValueId Lowering::seen(ValueId v) const {
  for (OpId producer = module_.value(v).producer; producer.valid(); producer = module_.value(v).producer) {
    const Row* row = find_row(module_.row(producer).name);
    if (row == nullptr || row->unview == nullptr || row->unview == keeps_layout) break;
    v = module_.operand(producer, 0);
  }
  return v;
}

// The weight whose gradient a product computes, told by the operand's gradient: both are products with the gradient of the result.
ValueId Lowering::weight_of_gradient(ValueId v) const {
  const ir::Type& type = module_.type_of(v);
  std::vector<ValueId> views{seen(module_.operand(module_.value(v).producer, 1))};
  for (std::size_t i = 0; i < views.size() && i < kMostViews; ++i)
    for (const auto& [op, index] : analysis_.users(views[i])) {
      const Row* row = find_row(module_.row(op).name);
      if (row == nullptr || module_.results(op).size() != 1) continue;
      if (row->unview != nullptr && index == 0) views.push_back(module_.result(op));
      if (module_.row(op).product != ir::Product::matrices || index != 0) continue;
      const ValueId w = seen(module_.operand(op, 1));
      if (module_.type_of(w).shape == type.shape && has_slot(w) && is_home(w)) return w;
    }
  return {};
}

std::optional<unsigned> Lowering::tile_to_begin_at(ValueId v) {
  ValueId with = partner(v, [&](ValueId w) { return w != v && has_slot(w) && is_home(w); });
  if (!with.valid()) with = weight_of_gradient(v);
  if (!with.valid() || slots_[with].tensor.numElements() == 0) return std::nullopt;
  const auto first = pando::tile_intervals(graph_at(module_.type_of(v).place), slots_[with].tensor.flatten().slice(0, 1));
  return first.empty() ? std::nullopt : std::optional(first[0].tile);
}

Tensor Lowering::new_tensor(ValueId v) {
  const ir::Type& type = module_.type_of(v);
  Tensor t;
  lies_as_partner_ = false;
  if (ir::elements_of(type.shape) > 1) {
    t = layout_wish(v);
    if (t.valid() && decisions_) why_[v] = why_wish_;
    lies_as_partner_ = !t.valid() && (t = partner_layout(v)).valid();
  }
  if (t.valid()) return t;
  ir::Place place = type.place;
  // Who reads it decides where nothing was said.
  for (const auto& [op, index] : analysis_.users(v)) {
    if (place.device.known()) break;
    place = place_of(op);
  }
  if (decisions_) why_[v] = "spread linearly";
  return linear(graph_at(place), type, name_of(v));
}

}  // namespace pando::lower
