#include "ir/semantics/infer.h"

#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/rows/evaluation.h"
#include "ir/rows/inference.h"

#include <algorithm>

namespace pando::ir {

namespace {

std::size_t rules_of(const OpRow& row) {
  std::size_t n = 0;
  while (n < row.operands.size() && !row.operands[n].name.empty()) ++n;
  return n;
}

std::string accepted(DTypeSet set) {
  std::string text;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    if (set & set_of(t)) text += (text.empty() ? "" : ", ") + std::string(name_of(t));
  }
  return text;
}

void check_operands(const Inference& in) {
  const OpRow& row = in.row();
  const std::size_t rules = rules_of(row);
  const bool variadic = rules > 0 && row.operands[rules - 1].variadic;
  std::size_t least = 0;
  for (std::size_t i = 0; i < rules; ++i) least += !row.operands[i].optional && !row.operands[i].variadic;
  if (in.operands() < least || (!variadic && in.operands() > rules)) {
    in.reject("operand-count", "it takes {}{} operands, {} were given", least,
              variadic ? " or more" : (least == rules ? "" : fmt::format(" to {}", rules)), in.operands());
  }
  for (std::size_t i = 0; i < in.operands(); ++i) {
    const OperandRule& rule = row.operands[std::min(i, rules - 1)];
    if (!in.operand(i).is_tensor()) {
      if (rule.types != any_type) in.reject("operand-type", "operand '{}' is a tuple", rule.name);
      continue;
    }
    if (!(rule.types & set_of(in.dtype(i)))) {
      in.reject("operand-type", "operand '{}' has the element type {}; it takes {}", rule.name, name_of(in.dtype(i)), accepted(rule.types));
    }
  }
}

void check_attributes(const Inference& in) {
  for (const AttributeRule& rule : in.row().attributes) {
    if (rule.name.empty()) break;
    const AttributeValue* value = in.attributes().find(rule.name);
    if (!value && rule.required) in.reject("attribute-missing", "attribute '{}' is missing", rule.name);
    if (value && !has_kind(*value, rule.kind)) in.reject("attribute-kind", "attribute '{}' is of the wrong kind", rule.name);
  }
  for (const auto& [name, value] : in.attributes().items()) {
    const bool known =
        std::any_of(in.row().attributes.begin(), in.row().attributes.end(), [&](const AttributeRule& r) { return r.name == name; });
    if (!known) in.reject("attribute-unknown", "it has no attribute '{}'", name);
  }
}

// The operands' place, where they have one; rejects two.
Place common_place(const Inference& in) {
  Place place;
  for (std::size_t i = 0; i < in.operands(); ++i) {
    const Place& p = in.operand(i).place;
    if (p.device.known() && place.device.known() && p.device != place.device && !in.row().moves) {
      reject(ErrorClass::value, "different-devices",
             "{}: operand {} lies on device {}, an earlier one on device {}; move one of them (ipu_copy)", in.row().name, i, p.device.value,
             place.device.value);
    }
    if (p.tiles != TileSet::undefined && place.tiles != TileSet::undefined && p.tiles != place.tiles && !in.row().moves) {
      reject(ErrorClass::value, "different-tile-sets",
             "{}: operand {} lies on the {} tiles, an earlier one on the {} tiles; move one of them (io_tile_copy)", in.row().name, i,
             p.tiles == TileSet::io ? "IO" : "compute", place.tiles == TileSet::io ? "IO" : "compute");
    }
    if (!place.device.known()) place.device = p.device;
    if (place.tiles == TileSet::undefined) place.tiles = p.tiles;
  }
  return place;
}

}  // namespace

bool has_kind(const AttributeValue& value, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::flag: return std::holds_alternative<bool>(value);
    case AttributeKind::integer: return std::holds_alternative<std::int64_t>(value);
    case AttributeKind::number: return std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
    case AttributeKind::text: return std::holds_alternative<std::string>(value);
    case AttributeKind::ints: return std::holds_alternative<Ints>(value);
    case AttributeKind::numbers: return std::holds_alternative<Floats>(value);
    case AttributeKind::texts: return std::holds_alternative<Strings>(value);
    case AttributeKind::dtype: return std::holds_alternative<DType>(value);
    case AttributeKind::blob: return std::holds_alternative<BlobId>(value);
    case AttributeKind::stream: return std::holds_alternative<HostStreamId>(value);
    case AttributeKind::buffer: return std::holds_alternative<BufferId>(value);
  }
  return false;
}

std::vector<Type> infer_types(const Module& module, const OpRow& row, std::span<const TypeId> operands, const Attributes& attributes,
                              std::span<const GraphId> graphs, bool in_place, const Place& otherwise) {
  Inference in(module, row, operands, attributes, graphs, in_place);
  check_operands(in);
  check_attributes(in);
  if (row.graphs >= 0 && graphs.size() != static_cast<std::size_t>(row.graphs)) {
    in.reject("graph-count", "it carries {} graphs, {} were given", row.graphs, graphs.size());
  }
  if (in_place && !row.has_in_place) in.reject("no-in-place-form", "it has no in-place form");
  const Place place = common_place(in);
  row.infer(in);
  for (Type& t : in.results()) {
    if (!t.is_tensor()) continue;
    if (!t.place.device.known()) t.place.device = place.device.known() ? place.device : otherwise.device;
    if (t.place.tiles == TileSet::undefined) t.place.tiles = place.tiles != TileSet::undefined ? place.tiles : otherwise.tiles;
  }
  return std::move(in.results());
}

OpId infer_and_add(Module& module, GraphId graph, std::string_view op, std::span<const ValueId> operands, const Attributes& attributes,
                   std::span<const GraphId> graphs, bool in_place, const Place& otherwise, std::string_view name) {
  const OpKind kind = op_kind(op);
  std::vector<TypeId> types;
  types.reserve(operands.size());
  for (ValueId v : operands) types.push_back(module.value(v).type);
  std::vector<TypeId> results;
  for (const Type& t : infer_types(module, row_of(kind), types, attributes, graphs, in_place, otherwise)) results.push_back(module.type(t));
  const OpId id = module.add_op(graph, kind, operands, attributes, graphs, results, name);
  module.op(id).in_place = in_place;
  return id;
}

void Inference::reject_text(std::string_view id, const std::string& message) const {
  std::string shapes;
  for (TypeId t : operands_) shapes += (shapes.empty() ? "" : ", ") + module_.types().to_string(t);
  ir::reject(ErrorClass::popart, id, "{}{}({}): {}", row_.name, in_place_ ? "_" : "", shapes, message);
}

std::int64_t Inference::axis(std::int64_t axis, std::size_t i) const {
  const std::int64_t rank = operand(i).rank();
  if (axis < -rank || axis >= rank) reject("axis-range", "axis {} is out of range for rank {}", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Ints Inference::axes(const Ints& axes, std::size_t i) const {
  Ints out;
  for (std::int64_t a : axes) {
    const std::int64_t positive = axis(a, i);
    if (std::find(out.begin(), out.end(), positive) != out.end()) reject("axis-twice", "axis {} is given twice", a);
    out.push_back(positive);
  }
  return out;
}

void same_as_first(Inference& in) {
  in.result(in.dtype(0), in.shape(0));
  in.results().back().meta_shape = in.operand(0).meta_shape;
}

Shape broadcast_shape(const Inference& in, const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t x = i + a.size() < out.size() ? 1 : a[i + a.size() - out.size()];
    const std::int64_t y = i + b.size() < out.size() ? 1 : b[i + b.size() - out.size()];
    if (x != y && x != 1 && y != 1)
      in.reject("shapes-do-not-broadcast", "the shapes {} and {} do not broadcast: {} against {}", to_string(a), to_string(b), x, y);
    out[i] = x == 1 ? y : x;
  }
  return out;
}

namespace {

Shape broadcast_all(const Inference& in) {
  Shape shape = in.shape(0);
  for (std::size_t i = 1; i < in.operands(); ++i) {
    if (in.dtype(i) != in.dtype(0))
      in.reject("different-types", "operands of {} and {}; cast one of them", name_of(in.dtype(0)), name_of(in.dtype(i)));
    // One element goes with every shard.
    const auto is_one = [&](std::size_t k) { return in.shape(k).empty() || (in.shape(k) == Shape{1} && in.operand(k).meta_shape.empty()); };
    if (in.operand(i).meta_shape != in.operand(0).meta_shape && !is_one(i) && !is_one(0)) {
      in.reject("different-shards", "operands are shards of {} and {}", to_string(in.operand(0).meta_shape),
                to_string(in.operand(i).meta_shape));
    }
    shape = broadcast_shape(in, shape, in.shape(i));
  }
  if (in.in_place() && shape != in.shape(0))
    in.reject("in-place-shape", "the result has shape {}; it does not fit into operand 0", to_string(shape));
  return shape;
}

}  // namespace

void broadcast_same_type(Inference& in) {
  in.result(in.dtype(0), broadcast_all(in));
  for (std::size_t i = 0; i < in.operands() && in.results().back().meta_shape.empty(); ++i)
    in.results().back().meta_shape = in.operand(i).meta_shape;
}

void broadcast_to_bool(Inference& in) { in.result(DType::boolean, broadcast_all(in)); }

}  // namespace pando::ir
