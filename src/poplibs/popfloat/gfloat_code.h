// How the library tells its vertices a format and a rounding.
#pragma once

#include "poplibs/popfloat/gfloat.h"

namespace popfloat {

// In the order of popfloat::experimental::RoundType.
enum : unsigned char { kTowardsZero, kToNearestEven, kToNearestAway, kUp, kDown, kRandomly, kWithNoise };
// In the order of popfloat::experimental::SRDensityType.
enum : unsigned char {
  kUniformNoise,
  kNormalNoise,
  kTruncatedNormalNoise,
  kBernoulliNoise,
  kLaplaceNoise,
  kTruncatedLaplaceNoise,
  kLogisticNoise,
  kTruncatedLogisticNoise,
  kLogitNormalNoise,
  kTruncatedLogitNormalNoise
};
inline bool is_truncated(unsigned char noise) {
  return noise == kTruncatedNormalNoise || noise == kTruncatedLaplaceNoise || noise == kTruncatedLogisticNoise ||
         noise == kTruncatedLogitNormalNoise;
}
// Noise around 0; the others lie between 0 and 1.
inline bool is_about_zero(unsigned char noise) {
  return noise >= kNormalNoise && noise <= kTruncatedLogisticNoise && noise != kBernoulliNoise;
}

struct GfloatNoise {
  unsigned char kind;
  float offset, scale, least, greatest, down;
};

enum : unsigned char { kDenormals = 1, kInfinities = 2, kNanOnOverflow = 4, kHalfArithmetic = 8 };
inline Gfloat unpacked_format(int mantissa, int exponent, int bias, unsigned char flags, int width, bool native) {
  return {mantissa,
          exponent,
          bias,
          (flags & kDenormals) != 0,
          (flags & kInfinities) != 0,
          (flags & kNanOnOverflow) != 0,
          (flags & kHalfArithmetic) != 0,
          width,
          native};
}

// The significand m without its lowest `cut` > 0 bits.
inline uint32_t rounded(uint32_t m, int cut, bool negative, unsigned char mode) {
  const uint32_t step = 1u << cut, rest = m & (step - 1), kept = m - rest, middle = step >> 1;
  bool up = false;
  if (mode == kToNearestEven) up = rest > middle || (rest == middle && (kept & step) != 0);
  if (mode == kToNearestAway) up = rest >= middle;
  if (mode == kUp) up = rest != 0 && !negative;
  if (mode == kDown) up = rest != 0 && negative;
  return up ? kept + step : kept;
}

}  // namespace popfloat
