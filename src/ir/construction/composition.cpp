#include "ir/construction/composition.h"

#include "ir/error.h"
#include "ir/semantics/infer.h"

#include <algorithm>
#include <numeric>

namespace pando::ir {

#define X(name) extern const Composition composition_##name;
#include "composition_manifest.inc"
#undef X

ValueId Writer::integers(std::span<const std::int64_t> values, DType dtype) {
  return constant(HostTensor::of_ints(dtype, {static_cast<std::int64_t>(values.size())}, values));
}

ValueId Writer::reshape(ValueId v, Shape shape) {
  return shape == type_of(v).shape ? v : op("reshape", {v}, {{"shape", Ints(std::move(shape))}});
}

ValueId Writer::transpose(ValueId v, const Ints& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return v;
  return op("transpose", {v}, {{"permutation", permutation}});
}

ValueId Writer::cast(ValueId v, DType dtype) { return type_of(v).dtype == dtype ? v : op("cast", {v}, {{"data_type", dtype}}); }

ValueId Writer::expand(ValueId v, const Shape& shape) {
  return type_of(v).shape == shape ? v : op("expand", {v}, {{"shape", Ints(shape)}});
}

ValueId Writer::slice(ValueId v, std::int64_t axis, std::int64_t start, std::int64_t count, std::int64_t step) {
  const Shape from = shape(v);
  const auto a = static_cast<std::size_t>(axis);
  if (start == 0 && step == 1 && count == from[a]) return v;
  const std::int64_t direction = step < 0 ? -1 : 1, far = step < 0 ? -step : step;
  const std::int64_t span = count == 0 ? 0 : (count - 1) * far + 1;
  std::int64_t stop = start + direction * span;
  // In front of the first element; -1 would be the last.
  if (stop < 0) stop = -from[a] - 1;
  if (count == 0) return op("slice", {v}, {{"start", Ints{0}}, {"stop", Ints{0}}, {"step", Ints{1}}, {"axis", Ints{axis}}});
  const ValueId part = op("slice", {v}, {{"start", Ints{start}}, {"stop", Ints{stop}}, {"step", Ints{direction}}, {"axis", Ints{axis}}});
  if (far == 1 || count <= 1) return part;
  Ints strides(from.size(), 1);
  strides[a] = far;
  return op("subsample", {part}, {{"strides", strides}});
}

ValueId Writer::concat(const Values& values, std::int64_t axis) {
  return values.size() == 1 ? values[0] : ops("concat", values, {{"axis", axis}})[0];
}

ValueId Writer::reduce(std::string_view name, ValueId v, const Ints& axes, bool keepdims) {
  return op(name, {v}, {{"axis", axes}, {"keepdims", keepdims}});
}

ValueId Writer::where(ValueId condition, ValueId yes, ValueId no) { return op("where", {condition, yes, no}); }

ValueId Writer::from_start(ValueId indices, std::int64_t extent) {
  const ValueId at = cast(indices, DType::int32);
  if (is_unsigned_integer(dtype(indices))) return at;
  const ValueId zero = scalar(DType::int32, 0), behind = op("add", {at, scalar(DType::int32, static_cast<double>(extent))});
  return where(op("less", {at, zero}), behind, at);
}

namespace {

const std::vector<const Composition*>& compositions() {
  static const std::vector<const Composition*> rows = [] {
    std::vector<const Composition*> all = {
#define X(name) &composition_##name,
#include "composition_manifest.inc"
#undef X
    };
    std::sort(all.begin(), all.end(), [](const Composition* a, const Composition* b) { return a->name < b->name; });
    return all;
  }();
  return rows;
}

void check_composed_operands(const Writer& w, const Composition& c, std::span<const ValueId> operands) {
  std::size_t most = 0;
  while (most < c.operands.size() && !c.operands[most].name.empty()) ++most;
  const bool many = most > 0 && c.operands[most - 1].variadic;
  if (operands.size() > most && !many)
    reject(ErrorClass::popart, "operand-count", "{} takes {} operands at most, not {}", c.name, most, operands.size());
  for (std::size_t i = 0; i < std::max(most, operands.size()); ++i) {
    const OperandRule& rule = c.operands[std::min(i, most - 1)];
    if (i >= operands.size() || !operands[i].valid()) {
      if (!rule.optional && !rule.variadic) reject(ErrorClass::popart, "operand-count", "{} needs the operand '{}'", c.name, rule.name);
      continue;
    }
    const DType type = w.type_of(operands[i]).dtype;
    if ((rule.types & set_of(type)) == 0)
      reject(ErrorClass::popart, "operand-type", "{} does not take {} as '{}'", c.name, name_of(type), rule.name);
  }
}

void check_composed_attributes(const Composition& c, const Attributes& attributes) {
  for (const auto& [name, value] : attributes.items()) {
    const auto it = std::find_if(c.attributes.begin(), c.attributes.end(), [&](const AttributeRule& r) { return r.name == name; });
    if (it == c.attributes.end()) reject(ErrorClass::popart, "unknown-attribute", "{} takes no attribute '{}'", c.name, name);
    if (!has_kind(value, it->kind)) reject(ErrorClass::popart, "attribute-kind", "attribute '{}' of {} has another kind", name, c.name);
  }
  for (const AttributeRule& rule : c.attributes) {
    if (!rule.name.empty() && rule.required && !attributes.has(rule.name))
      reject(ErrorClass::popart, "missing-attribute", "{} needs the attribute '{}'", c.name, rule.name);
  }
}

}  // namespace

std::span<const Composition* const> composition_table() { return compositions(); }

const Composition* find_composition(std::string_view name) {
  const auto& all = compositions();
  const auto it = std::lower_bound(all.begin(), all.end(), name, [](const Composition* c, std::string_view n) { return c->name < n; });
  return it == all.end() || (*it)->name != name ? nullptr : *it;
}

Values compose(Writer& writer, std::string_view name, std::span<const ValueId> operands, const Attributes& attributes) {
  const Composition* c = find_composition(name);
  if (c == nullptr) reject(ErrorClass::popart, "unknown-composition", "there is no composition '{}'", name);
  check_composed_operands(writer, *c, operands);
  check_composed_attributes(*c, attributes);
  return c->compose(writer, {{operands.begin(), operands.end()}, attributes});
}

}  // namespace pando::ir
