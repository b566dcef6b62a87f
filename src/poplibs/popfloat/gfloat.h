// Numbers of a format: how floats are rounded to them, packed and unpacked. For codelets and for the host.
#pragma once

#include <math.h>
#include <stdint.h>

namespace popfloat {

struct Gfloat {
  int mantissa, exponent, bias;  // bits, bits, number
  bool denormals, infinities;
  bool nan_on_overflow;
  bool half_arithmetic;
  int width;  // bits of what is stored: 8 or 16, packed; 32, or 16 and `native`
  bool native;
};

inline uint32_t bits_of(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// The bits that arithmetic of the tile gives a NaN; its upper half is that of HALF.
constexpr uint32_t kNan = 0x7fd9c07e, kNanOfHalf = 0x7fd9c000;

// In half arithmetic numbers are scaled so that the format's bias becomes that of half, or one more where the greatest exponent is for
// numbers, as half has no place for it.
inline int bias_within(const Gfloat& f) { return !f.half_arithmetic ? f.bias : !f.infinities && f.exponent == 5 ? 16 : 15; }
inline float scale_within(const Gfloat& f) { return ldexpf(1.0f, f.bias - bias_within(f)); }

// Of scaled numbers.
inline float least_of(const Gfloat& f) { return ldexpf(1.0f, 1 - bias_within(f) - (f.denormals ? f.mantissa : 0)); }
inline float greatest_of(const Gfloat& f) {
  if (f.exponent == 0 || (f.exponent == 1 && f.infinities))
    return ldexpf(static_cast<float>((1 << f.mantissa) - 1), 1 - bias_within(f) - (f.denormals ? f.mantissa : 0));
  const int greatest = (1 << f.exponent) - 1 - bias_within(f) - (f.infinities ? 1 : 0);
  return ldexpf(static_cast<float>((1 << (f.mantissa + 1)) - 1), greatest - f.mantissa);
}
inline float greatest_of_half(const Gfloat& f) { return ldexpf(static_cast<float>((1 << (f.mantissa + 1)) - 1), 15 - f.mantissa); }

// What stands for a number that is too great, or for NaN.
inline float beyond(const Gfloat& f, bool negative, bool not_a_number) {
  float out = greatest_of(f);
  if (f.infinities && (f.nan_on_overflow || not_a_number)) {
    out = float_of(f.half_arithmetic || (f.native && f.width == 16) ? kNanOfHalf : kNan);
    if (f.native && (f.half_arithmetic || f.width == 16)) return out;  // without a sign
  }
  return negative ? -out : out;
}

// x of significand m 2^(e - 23), whose lowest `cut` bits go: rounding(m, cut, negative, arithmetic's bits) is m without them.
template <class Rounding>
inline float quantise(float x, const Gfloat& f, Rounding&& rounding) {
  const bool negative = bits_of(x) >> 31 != 0;
  if (x != x) return beyond(f, negative, true);
  float scaled = x;
  bool truncate = false;
  if (f.half_arithmetic) {
    const float top = greatest_of_half(f);
    scaled *= scale_within(f);
    if (!f.nan_on_overflow && fabsf(scaled) > top) scaled = negative ? -top : top;
    scaled = static_cast<float>(static_cast<_Float16>(scaled));
    truncate = fabsf(scaled) > top;
  }
  const uint32_t bits = bits_of(scaled) & 0x7fffffff;
  if (bits >= 0x7f800000) return beyond(f, negative, false);
  const int e = bits >> 23 != 0 ? static_cast<int>(bits >> 23) - 127 : -126;
  uint32_t m = (bits & 0x7fffff) | (bits >> 23 != 0 ? 0x800000 : 0);
  const int below = 1 - bias_within(f) - e;
  int cut = (below > 0 ? below : 0) + 23 - f.mantissa;
  cut = cut > 24 ? 24 : cut;
  if (truncate)
    m = m >> cut << cut;
  else if (cut > 0)
    m = rounding(m, cut, negative);
  const float out = ldexpf(static_cast<float>(m), e - 23);
  if (out < least_of(f)) return 0.0f;
  if (out > greatest_of(f)) return beyond(f, negative, false);
  return negative ? -out : out;
}

// Scaled, rounded numbers to fields of 8 or 16 bits, the mantissa at the left of its field; and back to floats.
inline uint32_t pack(float scaled, const Gfloat& f) {
  const int field = f.width - 1, places = field - f.exponent, shift = 23 - places, bias = bias_within(f);
  const uint32_t bits = bits_of(scaled), sign = bits >> 31 << field, mask = (1u << field) - 1;
  if (scaled != scaled) return f.half_arithmetic ? (kNanOfHalf >> shift) & mask : ((kNan >> shift) & mask) | sign;
  if (scaled == 0) return 0;
  const int e = static_cast<int>(bits >> 23 & 0xff) - 127;
  uint32_t m = (bits & 0x7fffff) >> shift;
  if (e >= 1 - bias) return m | static_cast<uint32_t>(e + bias) << places | sign;
  const int below = 1 - bias - e;
  m = below > places ? 0 : (m | 1u << places) >> below;
  return m | sign;
}
inline float unpack(uint32_t packed, const Gfloat& f) {
  const int field = f.width - 1, places = field - f.exponent;
  const bool negative = packed >> field & 1;
  const uint32_t m = packed & ((1u << places) - 1), e = packed >> places & ((1u << f.exponent) - 1);
  if (f.infinities && f.exponent != 0 && e == (1u << f.exponent) - 1)
    return float_of((f.half_arithmetic ? kNanOfHalf : kNan) | (negative ? 0x80000000 : 0));
  float out = e == 0 ? ldexpf(static_cast<float>(m), 1 - f.bias - places)
                     : ldexpf(static_cast<float>(m | 1u << places), static_cast<int>(e) - f.bias - places);
  if (out == 0 && !(f.width == 16 && f.denormals)) return 0.0f;
  return negative ? -out : out;
}

}  // namespace popfloat
