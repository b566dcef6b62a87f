#include <poplar/IeeeHalf.hpp>

#include <cmath>

#include "popfloat/experimental/CastToHalf.hpp"

namespace popfloat {
namespace experimental {

namespace {

constexpr std::uint16_t kSign = 0x8000, kGreatest = 0x7bff, kNan = 0x7e00;

}  // namespace

std::uint16_t singleToHalf(float value, bool enNanoo) {
  const std::uint16_t sign = std::signbit(value) ? kSign : 0;
  const std::uint16_t rounded = static_cast<std::uint16_t>(poplar::IeeeHalf(std::fabs(value)).bit16() & ~kSign);
  const bool too_great = std::isfinite(value) && rounded > kGreatest;
  if (std::isnan(value) || (too_great && enNanoo)) return sign | kNan;
  return sign | (too_great ? kGreatest : rounded);
}

float halfToSingle(std::uint16_t ihalf) { return poplar::IeeeHalf::fromBits(ihalf); }

}  // namespace experimental
}  // namespace popfloat
