// How new variables are mapped: as the first reader with a wish likes them, seen through views and calls; else linearly.
#include "lower/element_types.h"
#include "lower/lowering.h"

#include <poputil/TileMapping.hpp>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Views and calls that a wish is followed through. Deeper ones are no longer the same data.
constexpr int kMaxDepth = 24;
// Elements of a vector on one tile, at least.
constexpr unsigned kVectorPart = 64;

}  // namespace

Tensor Lowering::linear(poplar::Graph& graph, const ir::Type& type, const std::string& name) {
  const Tensor t = graph.addVariable(element_type(type.dtype), extents(type.shape), name);
  // What is added to all rows of a matrix is read in parts of its blocks' width: they lie whole.
  if (type.shape.size() == 1) poputil::mapTensorLinearly(graph, t, kVectorPart, kVectorPart);
  else poputil::mapTensorLinearly(graph, t);
  return t;
}

Tensor Lowering::wish_through(ValueId v, OpId op, std::uint32_t index, int depth) {
  const auto graphs = module_.graphs(op);
  const std::string_view kind = module_.row(op).name;
  if (!graphs.empty()) {
    GraphId g = graphs[0];
    std::size_t input = index;
    if (kind == "conditional") {
      if (index == 0) return {};
      const auto then_inputs = static_cast<std::size_t>(module_.attributes(op).integer("then_inputs"));
      input = index - 1;
      if (input >= then_inputs) {
        g = graphs[1];
        input -= then_inputs;
      }
    }
    if (input >= module_.graph(g).inputs.size()) return {};
    if (is_function(g)) return graph_.clone(function(g).inputs[input], name_of(v));
    return layout_wish(module_.graph(g).inputs[input], depth + 1);
  }
  const Row* row = find_row(kind);
  if (row == nullptr) return {};
  if (row->layout) {
    const Tensor t = row->layout({module_, op, index, graph_of(op), *this, name_of(v)});
    if (t.valid()) return t;
  }
  if (row->unview && index == 0) {
    const Tensor t = layout_wish(module_.result(op), depth + 1);
    if (t.valid()) return row->unview(module_, op, t);
  }
  if (row->expression && module_.type_of(module_.result(op)).shape == module_.type_of(v).shape) return layout_wish(module_.result(op), depth + 1);
  return {};
}

// A tensor of the value's shape; its element type may be that of what is made of it.
Tensor Lowering::layout_wish(ValueId v, int depth) {
  if (depth > kMaxDepth) return {};
  for (const auto& [op, index] : analysis_.users(v)) {
    const Tensor t = wish_through(v, op, index, depth);
    if (!t.valid()) continue;
    const poplar::Type type = element_type(module_.type_of(v).dtype);
    return t.elementType() == type ? t : graph_.clone(type, t, name_of(v));
  }
  return {};
}

// The layout of a tensor of the same shape that it is combined with.
Tensor Lowering::partner_layout(ValueId v) {
  const ir::Type& mine = module_.type_of(v);
  for (const auto& [op, index] : analysis_.users(v)) {
    for (ValueId other : module_.operands(op)) {
      if (other == v || !has_slot(other) || module_.type_of(other).shape != mine.shape) continue;
      return graph_.clone(element_type(mine.dtype), slots_[other].tensor, name_of(v));
    }
  }
  return {};
}

Tensor Lowering::new_tensor(ValueId v) {
  const ir::Type& type = module_.type_of(v);
  Tensor t;
  if (ir::elements_of(type.shape) > 1) {
    t = layout_wish(v);
    if (!t.valid()) t = partner_layout(v);
  }
  if (t.valid()) return t;
  ir::Place place = type.place;
  // Who reads it decides where nothing was said.
  for (const auto& [op, index] : analysis_.users(v)) {
    if (place.device.known()) break;
    place = place_of(op);
  }
  return linear(graph_at(place), type, name_of(v));
}

}  // namespace pando::lower
