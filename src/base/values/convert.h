// Values of one element type as values of another. One meaning for the host: what tensors begin with, what crosses between host and device,
// what the reference interpreter computes; codelets that convert are tested against it.
//
//   to bool            everything but 0 is true, NaN too
//   float to integer   truncated; beyond the type's range its least or greatest value; NaN is 0
//   integer to integer the low bits: wraps around
//   to float           nearest, ties to even, rounded once; beyond the range infinity, of float8 what its overflow says
//
// A bool counts 0 or 1, whatever its byte holds; quarter_metadata is a byte without a sign.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/element_type.h"
#include "base/values/float8.h"

namespace pando {

// An element type; of quarters also what their codes say.
struct ValueForm {
  ElementType type = ElementType::float_;
  Float8Format format = Float8Format::f143;
  int scale = 0;
  Float8Overflow overflow = Float8Overflow::greatest;
};

// Of an integer type: its least number, and the first power of two that does not fit. Both are exact in every floating type.
template <class Integer, class Float>
inline constexpr Float kIntegersFrom = static_cast<Float>(std::numeric_limits<Integer>::lowest());
template <class Integer, class Float>
inline constexpr Float kIntegersEnd = static_cast<Float>(std::numeric_limits<Integer>::max() / 2 + 1) * 2;

// The conversion between types that C++ has.
template <class To, class From>
To converted_number(From v) {
  static_assert(std::is_arithmetic_v<To> && std::is_arithmetic_v<From>);
  if constexpr (std::is_same_v<To, bool>) {
    return v != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    if (v >= kIntegersEnd<To, From>) return std::numeric_limits<To>::max();
    return v < kIntegersFrom<To, From> ? std::numeric_limits<To>::lowest() : static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

// `n` elements, which need not be aligned. Elements of equal form are copied bit by bit.
void convert_values(const ValueForm& from, const void* in, const ValueForm& to, void* out, std::size_t n);

// What a conversion of one element would lose beside digits: a fraction, or the value altogether. Never anything of quarters.
enum class Loss : std::uint8_t { none, fraction, range };
Loss loss_of(ElementType from, const void* element, ElementType to);

}  // namespace pando
