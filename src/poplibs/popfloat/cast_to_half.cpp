#include <poplar/IeeeHalf.hpp>

#include <cmath>
#include <cstring>

#include "popfloat/experimental/CastToHalf.hpp"

namespace popfloat {
namespace experimental {

namespace {

constexpr std::uint16_t kSign = 0x8000, kGreatest = 0x7bff, kInfinity = 0x7c00, kNan = 0x7e00;

}  // namespace

std::uint16_t singleToHalf(float value, bool enNanoo) {
  const std::uint16_t sign = std::signbit(value) ? kSign : 0;
  const std::uint16_t rounded = static_cast<std::uint16_t>(poplar::IeeeHalf(std::fabs(value)).bit16() & ~kSign);
  const bool too_great = std::isfinite(value) && rounded > kGreatest;
  if (std::isnan(value) || (too_great && enNanoo)) return sign | kNan;
  return sign | (too_great ? kGreatest : rounded);
}

float halfToSingle(std::uint16_t ihalf) {
  if ((ihalf & ~kSign) <= kInfinity) return poplar::IeeeHalf::fromBits(ihalf);
  const std::uint32_t bits =
      static_cast<std::uint32_t>(ihalf & kSign) << 16 | 0x7f800000u | static_cast<std::uint32_t>(ihalf & 0x3ff) << 13;
  float nan;
  std::memcpy(&nan, &bits, sizeof nan);
  return nan;
}

}  // namespace experimental
}  // namespace popfloat
