// IEEE binary16 as bits, for code that takes numbers apart: codelets and hosts.
#ifndef POPLAR_IEEE_HALF_HPP
#define POPLAR_IEEE_HALF_HPP

#include <cstdint>
#include <cstring>

#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#else
#include <cmath>
#endif

namespace poplar {

/// Rounded to nearest, ties to even. Too great numbers become infinite.
class IeeeHalf {
 public:
  IeeeHalf() = default;
  static IeeeHalf fromBits(std::uint16_t bits) {
    IeeeHalf h;
    h.bits_ = bits;
    return h;
  }
  std::uint16_t bit16() const { return bits_; }

#ifdef __POPC__
  explicit IeeeHalf(float value) {
    const half rounded = static_cast<half>(value);
    __builtin_memcpy(&bits_, &rounded, sizeof bits_);
  }
  operator float() const {
    half value;
    __builtin_memcpy(&value, &bits_, sizeof value);
    return static_cast<float>(value);
  }
#else
  explicit IeeeHalf(float value) : bits_(rounded(value)) {}
  operator float() const {
    const int exponent = (bits_ >> 10) & 0x1f, mantissa = bits_ & 0x3ff;
    const float sign = bits_ & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 0x1f) return mantissa ? std::nanf("") : sign * HUGE_VALF;
    return sign * std::ldexp(static_cast<float>(exponent == 0 ? mantissa : mantissa | 0x400), (exponent == 0 ? 1 : exponent) - 25);
  }

 private:
  static std::uint16_t rounded(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const std::uint16_t sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
    const float magnitude = std::fabs(value);
    if (magnitude != magnitude) return static_cast<std::uint16_t>(sign | 0x7e00);
    if (magnitude >= 65520.0f)  // nearer to 2^16 than to the greatest number
      return static_cast<std::uint16_t>(sign | 0x7c00);
    if (magnitude == 0) return sign;
    int exponent = std::ilogb(magnitude);
    if (exponent < -14) exponent = -14;
    // In units of the last place; a carry out of the mantissa moves to the next exponent by itself.
    const int units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    return static_cast<std::uint16_t>(sign | ((exponent + 14) * 1024 + units));
  }
#endif

 private:
  std::uint16_t bits_;
};

}  // namespace poplar

#endif
