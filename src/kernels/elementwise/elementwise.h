// Element by element: functions of one, two and three operands, conversions and whole expressions, over contiguous elements.
//
// half is stored in 16 bits and computed in float. Semantics that C leaves open:
//   integers wrap around; x / 0 is 0 and x % 0 is x; the least integer / -1 is itself;
//   a shift by as many bits as the type has, or more (or by a negative number), gives 0, a sign-extending one the sign;
//   max and min of a NaN and a number are NaN; round goes away from zero on ties, nearby_int to even;
//   a conversion from float to an integer truncates, saturates, and makes 0 of NaN; to bool it is `x != 0`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise_rows.h"
#include "kernels/kernel.h"

namespace pando::kernels {

enum class Type : std::uint8_t { f32, f16, boolean, i8, u8, i16, u16, i32, u32, i64, u64 };

#define PANDO_ROW(NAME, name, ...) name,
enum class Unary : std::uint8_t { PANDO_UNARY_ROWS(PANDO_ROW) count };
enum class Binary : std::uint8_t { PANDO_BINARY_ROWS(PANDO_ROW) count };
#undef PANDO_ROW
enum class Ternary : std::uint8_t { clamp, select, count };

constexpr std::size_t size_of(Type type) {
  return type == Type::f32 || type == Type::i32 || type == Type::u32   ? 4
         : type == Type::f16 || type == Type::i16 || type == Type::u16 ? 2
         : type == Type::i64 || type == Type::u64                      ? 8
                                                                       : 1;
}
constexpr bool is_floating(Type type) { return type == Type::f32 || type == Type::f16; }

// The columns of elementwise_rows.h.
enum class Types : std::uint8_t { floats, integers, numbers, bits, booleans, all };
enum class Way : std::uint8_t { none, loop, each, test, relation, sines, cosines, tangents, angles, powers, remainders, quotients, rests };
enum class Chain : std::uint8_t { alone, chains };

constexpr bool has(Types types, Type type) {
  switch (types) {
    case Types::floats: return is_floating(type);
    case Types::integers: return !is_floating(type) && type != Type::boolean;
    case Types::numbers: return type != Type::boolean;
    case Types::bits: return !is_floating(type);
    case Types::booleans: return type == Type::boolean;
    default: return true;
  }
}

// Is the function defined for operands of that type? Results have the operands' type; those of tests and relations are boolean.
constexpr bool has(Unary op, Type type) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, ...) \
  case Unary::name: return has(Types::types, type);
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
constexpr bool has(Binary op, Type type) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, ...) \
  case Binary::name: return has(Types::types, type);
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
constexpr bool is_test(Unary op) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, floats, ...) \
  case Unary::name: return Way::floats == Way::test;
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
constexpr bool is_relation(Binary op) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, floats, ...) \
  case Binary::name: return Way::floats == Way::relation;
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
constexpr bool can_chain(Binary op) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, ...) \
  case Binary::name: return Chain::chain == Chain::chains;
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
// Of an element on a tile; 0: as fast as memory.
constexpr unsigned cycles_of(Unary op, Type type) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, ...) \
  case Unary::name: return is_floating(type) ? float_cycles : integer_cycles;
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return 0;
  }
}
constexpr unsigned cycles_of(Binary op, Type type) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, ...) \
  case Binary::name: return is_floating(type) ? float_cycles : integer_cycles;
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return 0;
  }
}

// What a link of a chain does: an operation of two that can_chain(), with its number there, or one that networks put behind sums.
enum class LinkOp : std::uint8_t {
  relu = 128,  // as Unary::relu; it has no operand
  gate,        // the value where operand[i] > 0, else 0
  sqrt,        // as Unary::sqrt; it has no operand
  product,     // the value + operand[i] * second[i], each rounded
  keep,        // the value, which is stored at kept[i], too
};
constexpr LinkOp link_op(Binary op) { return static_cast<LinkOp>(op); }
static_assert(static_cast<unsigned>(Binary::count) < static_cast<unsigned>(LinkOp::relu));

// An operation of a chain: value op operand[i], or operand[i] op value if `reversed`. A constant is an operand of kConstantElements
// equal elements, for chains of any length.
struct Link {
  const float* operand;
  LinkOp op;
  bool reversed;
  bool constant = false;
  const float* second = nullptr;
  float* kept = nullptr;
};
constexpr std::size_t kConstantElements = 32;
}  // namespace pando::kernels

// out[i] = op(a[i], ...) for i < n. `out` may be an operand; it may not overlap one otherwise. Nothing happens for a function that
// the type does not have.
PANDO_KERNEL void pando_unary(pando::kernels::Unary op, pando::kernels::Type type, const void* a, void* out, std::size_t n);
PANDO_KERNEL void pando_binary(pando::kernels::Binary op, pando::kernels::Type type, const void* a, const void* b, void* out,
                               std::size_t n);
// out[i] = what the links make of a[i], one after the other, rounded after each.
// The values stay in registers: one pass over memory for all of them. `out` and what is kept may be operands of this link and those before.
PANDO_KERNEL void pando_chain(const float* a, const pando::kernels::Link* links, unsigned count, float* out, std::size_t n);
// clamp(value, least, greatest).
PANDO_KERNEL void pando_clamp(pando::kernels::Type type, const void* value, const void* least, const void* greatest, void* out,
                              std::size_t n);
// out[i] = condition[i] ? a[i] : b[i], of elements of so many bytes.
PANDO_KERNEL void pando_select(std::size_t element_bytes, const void* a, const void* b, const void* condition, void* out, std::size_t n);
// Conversion; `out` may not overlap `in`.
PANDO_KERNEL void pando_convert(pando::kernels::Type from, pando::kernels::Type to, const void* in, void* out, std::size_t n);
// out[i] = *value, of elements of so many bytes.
PANDO_KERNEL void pando_splat(std::size_t element_bytes, const void* value, void* out, std::size_t n);
