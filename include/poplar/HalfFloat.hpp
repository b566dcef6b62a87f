// half: IEEE binary16, rounded to nearest even after each operation. A type of its own, distinct from float. With its limits and the
// functions of <cmath>.
#ifndef POPLAR_HALF_FLOAT_HPP
#define POPLAR_HALF_FLOAT_HPP

#ifdef __POPC__

typedef _Float16 half;

#ifdef __cplusplus
inline constexpr half operator""_h(long double value) { return static_cast<half>(value); }
inline constexpr half operator""_h(unsigned long long value) { return static_cast<half>(value); }

namespace poplar {
using ::half;
}

#include <limits>

#if !defined(__STDCPP_FLOAT16_T__)
namespace std {
template <> class numeric_limits<half> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true, has_denorm_loss = false;
  static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false, traps = false, tinyness_before = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr int radix = 2, digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4, max_exponent = 16, max_exponent10 = 4;
  static constexpr half(min)() noexcept { return static_cast<half>(0x1p-14f); }
  static constexpr half(max)() noexcept { return static_cast<half>(65504.0f); }
  static constexpr half lowest() noexcept { return static_cast<half>(-65504.0f); }
  static constexpr half epsilon() noexcept { return static_cast<half>(0x1p-10f); }
  static constexpr half round_error() noexcept { return static_cast<half>(0.5f); }
  static constexpr half denorm_min() noexcept { return static_cast<half>(0x1p-24f); }
  static constexpr half infinity() noexcept { return static_cast<half>(__builtin_inff()); }
  static constexpr half quiet_NaN() noexcept { return static_cast<half>(__builtin_nanf("")); }
  static constexpr half signaling_NaN() noexcept { return static_cast<half>(__builtin_nansf("")); }
};
template <> class numeric_limits<const half> : public numeric_limits<half> {};
}  // namespace std
#endif

#include <poplar/HalfMath.hpp>
#endif

#endif
#endif
