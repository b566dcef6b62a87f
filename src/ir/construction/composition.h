// Compositions: functions that frameworks have and Pando writes in ops that it has (pads, resize, elu ...). One library serves all
// importers.
//
//     extern const Composition composition_elu;
//     constexpr Composition composition_elu = {
//         .name = "elu",
//         .doc = "x where x > 0, else alpha (e^x - 1).",
//         .operands = {{{"x", any_floating}}},
//         .attributes = {{{"alpha", AttributeKind::number, false}}},
//         .compose = [](Writer& w, const Composed& c) -> Values { ... },
//     };
//
// A file of compositions/<group>/ holds one; it is named after it. The build makes a manifest of them.
#pragma once

#include "ir/host_tensor.h"
#include "ir/meaning/formula.h"
#include "ir/op_row.h"

#include <array>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace pando::ir {

using Values = std::vector<ValueId>;

// Appends ops to one graph. Axes count from 0; who writes has checked them.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual const Type& type_of(ValueId v) const = 0;
  virtual Values ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual ValueId constant(HostTensor data) = 0;

  // Of a value; copies, as types may move while ops are added.
  Shape shape(ValueId v) const { return type_of(v).shape; }
  DType dtype(ValueId v) const { return type_of(v).dtype; }
  std::int64_t rank(ValueId v) const { return static_cast<std::int64_t>(type_of(v).shape.size()); }

  ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) {
    return ops(name, {operands.begin(), operands.size()}, attributes)[0];
  }
  ValueId scalar(DType dtype, double value) { return constant(HostTensor::filled(dtype, {}, value)); }
  ValueId integers(std::span<const std::int64_t> values, DType dtype = DType::int32);
  // Nothing is added where nothing changes.
  ValueId reshape(ValueId v, Shape shape);
  ValueId transpose(ValueId v, const Ints& permutation);
  ValueId cast(ValueId v, DType dtype);
  ValueId expand(ValueId v, const Shape& shape);
  // `count` elements of an axis, from `start` on, each `step` from the last; the step may be any but 0.
  ValueId slice(ValueId v, std::int64_t axis, std::int64_t start, std::int64_t count, std::int64_t step = 1);
  ValueId concat(const Values& values, std::int64_t axis);
  // "sum", "mean", "max" ... over some axes.
  ValueId reduce(std::string_view name, ValueId v, const Ints& axes, bool keepdims);
  // A tensor of one value.
  ValueId full(DType dtype, const Shape& shape, double value) { return expand(scalar(dtype, value), shape); }
  // Operands as they broadcast to each other.
  ValueId where(ValueId condition, ValueId yes, ValueId no);
  // -1 counts from the end, as do all below 0: indices of an axis of `extent` elements as int32.
  ValueId from_start(ValueId indices, std::int64_t extent);
};

// One use of a composition. Absent optional operands are invalid.
struct Composed {
  Values operands;
  Attributes attributes;

  bool has(std::size_t i) const { return i < operands.size() && operands[i].valid(); }
  ValueId operand(std::size_t i = 0) const { return operands[i]; }
};

struct Composition {
  std::string_view name;
  // One paragraph for users: meaning, shapes, errors.
  std::string_view doc;
  std::array<OperandRule, 10> operands = {};
  std::array<AttributeRule, 14> attributes = {};
  Values (*compose)(Writer&, const Composed&) = nullptr;
};

// All, sorted by name.
std::span<const Composition* const> composition_table();
// Null: there is none.
const Composition* find_composition(std::string_view name);

// Writes it; the results. Rejects (popart): unknown names, operands or attributes that it does not take, what its ops reject.
Values compose(Writer& writer, std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {});
inline ValueId compose(Writer& writer, std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) {
  return compose(writer, name, std::span(operands.begin(), operands.size()), attributes)[0];
}

}  // namespace pando::ir
