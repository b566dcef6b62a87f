#include "base/values/float8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/values/small_float.h"

namespace pando {

namespace {

constexpr std::uint32_t kGreatest = 0x7f;

constexpr int mantissa_of(Float8Format f) { return f == Float8Format::f143 ? 3 : 2; }
constexpr int bias_of(Float8Format f) { return f == Float8Format::f143 ? 8 : 16; }

// The number of a code without its sign, which may be one behind the greatest.
float magnitude_of(Float8Format format, std::uint32_t code, int scale) {
  const int mantissa = mantissa_of(format);
  const int exponent = static_cast<int>(code >> mantissa);
  const int fraction = static_cast<int>(code) & ((1 << mantissa) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << mantissa);
  return std::ldexp(static_cast<float>(significand), std::max(exponent, 1) - bias_of(format) - mantissa + scale);
}

}  // namespace

float float_from_float8(Float8Format format, std::uint8_t code, int scale) {
  if (code == kFloat8Nan) return std::numeric_limits<float>::quiet_NaN();
  const float magnitude = magnitude_of(format, code & kGreatest, scale);
  return code & 0x80 ? -magnitude : magnitude;
}

std::uint8_t float8_from_double(Float8Format format, double value, Float8Overflow overflow, int scale) {
  if (std::isnan(value)) return kFloat8Nan;
  // A scale moves the exponents alone.
  std::uint32_t code = std::isinf(value) ? kGreatest + 1 : nearest_code(std::fabs(value), mantissa_of(format), bias_of(format) - scale);
  if (code > kGreatest) {
    if (overflow == Float8Overflow::nan) return kFloat8Nan;
    code = kGreatest;
  }
  return static_cast<std::uint8_t>(code == 0 || !std::signbit(value) ? code : code | 0x80);
}

float float8_overflow(Float8Format format) { return (magnitude_of(format, kGreatest, 0) + magnitude_of(format, kGreatest + 1, 0)) / 2; }

}  // namespace pando
