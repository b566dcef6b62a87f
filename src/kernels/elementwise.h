// Element by element: functions of one, two and three operands, conversions and whole expressions, over contiguous elements.
//
// half is stored in 16 bits and computed in float. Semantics that C leaves open:
//   integers wrap around; x / 0 is 0 and x % 0 is x; the least integer / -1 is itself;
//   a shift by as many bits as the type has, or more (or by a negative number), gives 0, a sign-extending one the sign;
//   max and min of a NaN and a number are the number; round goes away from zero on ties, nearby_int to even;
//   a conversion from float to an integer truncates, saturates, and makes 0 of NaN; to bool it is `x != 0`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace pando::kernels {

enum class Type : std::uint8_t { f32, f16, boolean, i8, u8, i16, u16, i32, u32, i64, u64 };

// In the order of popops::expr::UnaryOpType, BinaryOpType, TernaryOpType.
enum class Unary : std::uint8_t {
  absolute, asin, bitwise_not, cbrt, ceil, cos, count_leading_zeros, erf, exp, expm1, exp2, floor, gelu_erf, inverse, is_finite,
  is_inf, is_nan, log, log1p, logical_not, negate, nearby_int, popcount, relu, signum, sin, tan, tanh, round, sqrt, square,
  sigmoid, rsqrt, trunc, count
};
enum class Binary : std::uint8_t {
  add, atan2, bitwise_and, bitwise_or, bitwise_xor, bitwise_xnor, divide, equal, greater_equal, greater, inv_std_dev_to_variance,
  less_equal, logical_and, logical_or, less, maximum, minimum, multiply, not_equal, power, remainder, shift_left, shift_right,
  shift_right_sign_extend, subtract, variance_to_inv_std_dev, count
};
enum class Ternary : std::uint8_t { clamp, select, count };

constexpr std::size_t size_of(Type type) {
  return type == Type::f32 || type == Type::i32 || type == Type::u32   ? 4
         : type == Type::f16 || type == Type::i16 || type == Type::u16 ? 2
         : type == Type::i64 || type == Type::u64                      ? 8
                                                                       : 1;
}
constexpr bool is_floating(Type type) { return type == Type::f32 || type == Type::f16; }
constexpr bool is_test(Unary op) { return op == Unary::is_finite || op == Unary::is_inf || op == Unary::is_nan; }
constexpr bool is_relation(Binary op) {
  return op == Binary::equal || op == Binary::not_equal || op == Binary::less || op == Binary::less_equal || op == Binary::greater ||
         op == Binary::greater_equal;
}
constexpr bool can_chain(Binary op) {
  return op == Binary::add || op == Binary::subtract || op == Binary::multiply || op == Binary::divide || op == Binary::maximum || op == Binary::minimum;
}
// An operation of a chain: value op operand[i], or operand[i] op value if `reversed`. A constant is an operand of kConstantElements
// equal elements, for chains of any length.
struct Link {
  const float* operand;
  Binary op;
  bool reversed;
  bool constant = false;
};
constexpr std::size_t kConstantElements = 32;
// Is the function defined for operands of that type? Results have the operands' type; those of tests and relations are boolean.
constexpr bool has(Unary op, Type type) {
  const bool integer = !is_floating(type) && type != Type::boolean;
  switch (op) {
    case Unary::logical_not: return type == Type::boolean;
    case Unary::bitwise_not: return !is_floating(type);
    case Unary::popcount:
    case Unary::count_leading_zeros: return integer;
    case Unary::absolute:
    case Unary::negate:
    case Unary::signum:
    case Unary::relu:
    case Unary::square:
    case Unary::sqrt: return type != Type::boolean;
    case Unary::count: return false;
    default: return is_floating(type);
  }
}
constexpr bool has(Binary op, Type type) {
  const bool integer = !is_floating(type) && type != Type::boolean;
  switch (op) {
    case Binary::logical_and:
    case Binary::logical_or: return type == Type::boolean;
    case Binary::bitwise_and:
    case Binary::bitwise_or:
    case Binary::bitwise_xor:
    case Binary::bitwise_xnor: return !is_floating(type);
    case Binary::shift_left:
    case Binary::shift_right:
    case Binary::shift_right_sign_extend: return integer;
    case Binary::atan2:
    case Binary::inv_std_dev_to_variance:
    case Binary::variance_to_inv_std_dev: return is_floating(type);
    case Binary::count: return false;
    default: return type != Type::boolean || is_relation(op);
  }
}

}  // namespace pando::kernels

// out[i] = op(a[i], ...) for i < n. `out` may be an operand; it may not overlap one otherwise. Nothing happens for a function that
// the type does not have.
PANDO_KERNEL void pando_unary(pando::kernels::Unary op, pando::kernels::Type type, const void* a, void* out, std::size_t n);
PANDO_KERNEL void pando_binary(pando::kernels::Binary op, pando::kernels::Type type, const void* a, const void* b, void* out, std::size_t n);
// out[i] = what the links make of a[i], one after the other, rounded after each. No link's operation may be one that !can_chain().
// The values stay in registers: one pass over memory for all of them. `out` may be an operand.
PANDO_KERNEL void pando_chain(const float* a, const pando::kernels::Link* links, unsigned count, float* out, std::size_t n);
// clamp(value, least, greatest).
PANDO_KERNEL void pando_clamp(pando::kernels::Type type, const void* value, const void* least, const void* greatest, void* out, std::size_t n);
// out[i] = condition[i] ? a[i] : b[i], of elements of so many bytes.
PANDO_KERNEL void pando_select(std::size_t element_bytes, const void* a, const void* b, const void* condition, void* out, std::size_t n);
// Conversion; `out` may not overlap `in`.
PANDO_KERNEL void pando_convert(pando::kernels::Type from, pando::kernels::Type to, const void* in, void* out, std::size_t n);
// out[i] = *value, of elements of so many bytes.
PANDO_KERNEL void pando_splat(std::size_t element_bytes, const void* value, void* out, std::size_t n);
// Float functions of one operand by name, for other kernels and codelets: what pando_unary does with Type::f32.
PANDO_KERNEL void pando_exp_f32(const float* a, float* out, std::size_t n);
PANDO_KERNEL void pando_log_f32(const float* a, float* out, std::size_t n);
PANDO_KERNEL void pando_tanh_f32(const float* a, float* out, std::size_t n);
PANDO_KERNEL void pando_sigmoid_f32(const float* a, float* out, std::size_t n);
