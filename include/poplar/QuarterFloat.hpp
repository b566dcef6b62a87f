// quarter: 8-bit floating point. Its numbers mean something only together with metadata: a format and a scale.
//
//   format   sign exponent mantissa   bias   greatest        zero 0x00, not-a-number 0x80, no infinities
//   F143       1     4        3         8    240
//   F152       1     5        2        16    57344
//   number = decoded bits * 2^scale; scale is -32 .. 31
#ifndef POPLAR_QUARTER_FLOAT_HPP
#define POPLAR_QUARTER_FLOAT_HPP

#ifdef __POPC__

#include <math.h>
#include <stdint.h>

#include <poplar/HalfFloat.hpp>
#include <poplar/QuarterEdges.hpp>

namespace poplar {

class quarter {
 public:
  quarter() = default;
  static constexpr quarter fromBits(uint8_t bits) {
    quarter q{};
    q.bits_ = bits;
    return q;
  }
  constexpr uint8_t bits() const { return bits_; }

 private:
  uint8_t bits_;
};

struct quarter_metadata {
  enum format { f143, f152 } fmt;
  int scale;
};

// A MetadataType is metadata in memory, as the host's poplar::QuarterMetadata::getBinary() writes it: the format in bit 7 (1: F143), the
// scale in bits 0 to 5 (two's complement).
inline quarter_metadata unpackMetadata(const MetadataType* packed) {
  const int scale = *packed & 0x3f;
  return {(*packed & 0x80) ? quarter_metadata::f143 : quarter_metadata::f152, scale >= 32 ? scale - 64 : scale};
}

inline float toFloat(quarter value, quarter_metadata metadata) {
  if (value.bits() == 0x80) return __builtin_nanf("");
  const bool f143 = metadata.fmt == quarter_metadata::f143;
  const int mantissa_bits = f143 ? 3 : 2, bias = f143 ? 8 : 16;
  const int exponent = (value.bits() & 0x7f) >> mantissa_bits;
  const int mantissa = value.bits() & ((1 << mantissa_bits) - 1);
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const float magnitude = ldexpf(float(whole), (exponent == 0 ? 1 : exponent) - bias - mantissa_bits + metadata.scale);
  return (value.bits() & 0x80) ? -magnitude : magnitude;
}

// Nearest, ties to even; too great numbers become the greatest, or not-a-number if nan_on_overflow.
inline quarter toQuarter(float value, quarter_metadata metadata, bool nan_on_overflow = false) {
  if (value != value) return quarter::fromBits(0x80);
  const bool f143 = metadata.fmt == quarter_metadata::f143;
  const int mantissa_bits = f143 ? 3 : 2, bias = f143 ? 8 : 16;
  const float magnitude = fabsf(value);
  if (magnitude == 0) return quarter::fromBits(0);
  int encoded = 0x80;
  if (magnitude < ldexpf(1.0f, 64)) {
    const float scaled = ldexpf(magnitude, -metadata.scale);
    int exponent = ilogbf(scaled) + bias;
    if (exponent < 1) exponent = 1;
    // In units of the last place; a carry out of the mantissa moves to the next exponent by itself.
    const int units = int(rintf(ldexpf(scaled, mantissa_bits + bias - exponent)));
    encoded = ((exponent - 1) << mantissa_bits) + units;
  }
  if (encoded > 0x7f && nan_on_overflow) return quarter::fromBits(0x80);
  const uint8_t bits = encoded < 0x7f ? uint8_t(encoded) : 0x7f;
  if (bits == 0) return quarter::fromBits(0);  // there is one zero
  return quarter::fromBits(value < 0 ? uint8_t(bits | 0x80) : bits);
}
inline quarter toQuarter(half value, quarter_metadata metadata, bool nan_on_overflow = false) {
  return toQuarter(static_cast<float>(value), metadata, nan_on_overflow);
}
inline half toHalf(quarter value, quarter_metadata metadata) { return static_cast<half>(toFloat(value, metadata)); }

}  // namespace poplar

using poplar::MetadataType;
using poplar::quarter;
using poplar::quarter_metadata;
using poplar::toHalf;
using poplar::toQuarter;
using poplar::unpackMetadata;

#endif  // __POPC__
#endif
