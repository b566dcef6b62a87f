#include "base/values/half.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/values/small_float.h"

namespace pando {

namespace {
constexpr std::uint32_t kInfinity = 0x7c00;
}

std::uint16_t half_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)  // NaN: keep the payload's top bits, make it quiet
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | kInfinity);  // rounds to infinity
  if (magnitude < 0x38800000u) {                                                      // subnormal half or zero: let the float adder round
    const float tiny = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(tiny) - 0x3f000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

std::uint16_t half_from_double(double value) {
  if (std::isnan(value)) return half_from_float(static_cast<float>(value));
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0;
  const std::uint32_t code = std::isinf(value) ? kInfinity : std::min(kInfinity, nearest_code(std::fabs(value), 10, 15));
  return static_cast<std::uint16_t>(sign | code);
}

float float_from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float scaled = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

}  // namespace pando
