// How the library tells its vertices a format and a rounding.
#pragma once

#include "poplibs/popfloat/gfloat.h"

namespace popfloat {

// In the order of popfloat::experimental::RoundType, which begins with none.
enum : unsigned char { kTowardsZero, kToNearestEven, kToNearestAway, kUp, kDown, kRandomly, kWithNoise };
inline unsigned char mode_of(unsigned round_type) { return static_cast<unsigned char>(round_type - 1); }
// In the order of popfloat::experimental::SRDensityType, which begins with none.
enum : unsigned char {
  kUniformNoise,
  kNormalNoise,
  kTruncatedNormalNoise,
  kBernoulliNoise,
  kLogisticNoise,
  kTruncatedLogisticNoise,
  kLaplaceNoise,
  kTruncatedLaplaceNoise,
  kLogitNormalNoise,
  kTruncatedLogitNormalNoise
};
inline unsigned char noise_of(unsigned density) { return static_cast<unsigned char>(density - 1); }
// So often a truncated noise is drawn at most.
constexpr unsigned kMostDraws = 1000;
inline bool is_truncated(unsigned char noise) {
  return noise == kTruncatedNormalNoise || noise == kTruncatedLaplaceNoise || noise == kTruncatedLogisticNoise ||
         noise == kTruncatedLogitNormalNoise;
}
// Noise around 0; the others lie between 0 and 1.
inline bool is_about_zero(unsigned char noise) {
  return noise >= kNormalNoise && noise <= kTruncatedLaplaceNoise && noise != kBernoulliNoise;
}

struct GfloatNoise {
  unsigned char kind;
  float offset, scale, least, greatest, down;
};

enum : unsigned char { kDenormals = 1, kInfinities = 2, kNanOnOverflow = 4, kHalfArithmetic = 8 };

// A tensor with a format: mantissa and exponent bits, kDenormals and kInfinities, as FormatConfig::getPackedFloatParameters() has them; the
// bias.
constexpr unsigned kParams = 2;
inline int bias_of_packed(int packed) { return static_cast<signed char>(packed >> 16 & 0xff); }

// What a program writes into such a tensor may be no format, or not fit `width` bits of packed numbers: the nearest that does is taken.
inline Gfloat format_of(const int* params, unsigned char flags, int width, bool native) {
  const int exponent = params[0] >> 8 & 0xff, mantissa = params[0] & 0xff, most = native ? 15 : width - 1;
  const int which = params[0] >> 24;
  const int bias = params[1] < -1000 ? -1000 : params[1] > 1000 ? 1000 : params[1];
  return {mantissa > 23 ? 23 : mantissa,
          exponent > most ? most
          : exponent > 15 ? 15
                          : exponent,
          bias,
          (which & kDenormals) != 0,
          (which & kInfinities) != 0 && exponent > 0,
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
