// What columns of an op's row can say.
#pragma once

#include "ir/types/type.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pando::ir {

// What element types an operand may have. A set of DTypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet set_of(DType t) { return DTypeSet{1} << static_cast<unsigned>(t); }
constexpr DTypeSet set_where(bool (*accepts)(DType)) {
  DTypeSet s = 0;
  for (std::size_t i = 0; i < kDTypes; ++i) s |= accepts(static_cast<DType>(i)) ? DTypeSet{1} << i : 0;
  return s;
}
inline constexpr DTypeSet any_type = (DTypeSet{1} << kDTypes) - 1;
inline constexpr DTypeSet any_floating = set_of(DType::float16) | set_of(DType::float32) | set_of(DType::float64);
inline constexpr DTypeSet any_float8 = set_of(DType::float8_143) | set_of(DType::float8_152);
inline constexpr DTypeSet any_integer = set_where(is_integer);
inline constexpr DTypeSet any_numeric = any_floating | any_integer;
inline constexpr DTypeSet only_bool = set_of(DType::boolean);

struct OperandRule {
  std::string_view name;
  DTypeSet types = any_type;
  // Takes all remaining operands (the last one only).
  bool variadic = false;
  // May be absent (trailing operands only).
  bool optional = false;
};

enum class AttributeKind : std::uint8_t { flag, integer, number, text, ints, numbers, texts, dtype, blob, stream, buffer };

struct AttributeRule {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  bool required = true;
};

enum class Effects : std::uint8_t {
  none = 0,
  stream = 1,  // reads or writes the next slice of the host stream in attribute "stream"
  remote = 2,  // reads or writes a row of the buffer in attribute "buffer"
  print = 4,
  code = 8,      // loads code of a graph
  replicas = 16  // meets the other replicas of its group
};
constexpr Effects operator|(Effects a, Effects b) {
  return static_cast<Effects>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(Effects set, Effects e) { return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(e)) != 0; }

// What autodiff does at an op that a gradient reaches.
enum class Differentiable : std::uint8_t {
  by_gradient,  // the row's gradient
  zero,         // differentiable, the gradient is zero
  no,           // the path ends without a word; only a required gradient that is then missing is an error
  rejected,     // an error
  blocks,       // detach: the path ends on purpose
};

// A result that is a new version of an operand.
struct Modification {
  std::int8_t operand = -1;
  std::int8_t result = -1;
};

// The same, where an op's attributes and graphs say it.
struct NewVersion {
  std::size_t operand = 0;
  std::size_t result = 0;
  friend bool operator==(const NewVersion&, const NewVersion&) = default;
};

// A result that may lie where an operand lies: a view (reshape, slice, transpose), computed without arithmetic.
enum class View : std::uint8_t { none, of_first_operand, of_all_operands };
// Which elements of its operand a view is, in which order.
enum class ViewForm : std::uint8_t {
  other,
  whole,     // all, as they are (detach)
  reshaped,  // all, in the same order
  permuted,  // all, with the dimensions in the order of attribute "permutation"
  box,       // those of attributes "start", "stop" and "step" along "axis"
};

// What an op does with the graphs that it carries.
enum class Control : std::uint8_t {
  none,
  call,    // runs its graph once
  repeat,  // as often as attribute "count" says
  branch,  // runs one of two
  map,     // runs it for each element of its tuples, on the element's device (attribute "device_var")
};

// Of ops that only put values into a tuple, or take one out.
enum class Tuple : std::uint8_t { none, make, element };

// What goes between devices, or between the replicas of a group where the op has that effect.
enum class Traffic : std::uint8_t { none, send, broadcast, scatter, gather, reduce, all_reduce, all_gather, reduce_scatter, all_to_all };

// Where in a step of training an op stands, whatever surrounds it.
enum class OpPhase : std::uint8_t {
  any,
  backward,  // a gradient
  update,    // the change of a weight
};

// A product of operands 0 and 1: linear in each, so one op is its whole derivative by one of them.
enum class Product : std::uint8_t {
  none,
  elements,
  matrices,  // operand 1 is the weight, where one is
  windows,   // the same, of convolutions
};

enum class Adds : std::uint8_t {
  nothing,
  operands,  // the result is their sum
  elements,  // the result holds sums of operand 0's elements
};

// What the op does with the part of operand 0 that operand 1 says, along attribute "axes", of attribute "sizes".
enum class Indexed : std::uint8_t { none, reads, replaces };

// Of a replica's own part of a tensor that all have.
enum class ReplicaPart : std::uint8_t {
  none,
  of_flat,     // of all elements in order, with zeros behind them
  along_axis,  // of dimension "axis"
};

// Operations and bytes of one run of an op.
struct Cost {
  double operations = 0;  // additions and multiplications of elements
  double bytes_read = 0, bytes_written = 0;
};

}  // namespace pando::ir
