// The functions of <cmath> for half: computed in float, rounded once. They take half and nothing else, so that calls with other
// types resolve as before.
#ifndef POPLAR_HALF_MATH_HPP
#define POPLAR_HALF_MATH_HPP

#if defined(__POPC__) && defined(__cplusplus)

#include <math.h>
#include <poplar/HalfFloat.hpp>

namespace poplar {
template <class T, class Result>
struct IfHalf {};
template <class Result>
struct IfHalf<half, Result> {
  typedef Result type;
};
}  // namespace poplar

namespace std {
template <class T> inline typename poplar::IfHalf<T, half>::type sqrt(T x) {
  return static_cast<half>(__builtin_sqrtf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type exp(T x) {
  return static_cast<half>(__builtin_expf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type exp2(T x) {
  return static_cast<half>(__builtin_exp2f(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type expm1(T x) {
  return static_cast<half>(__builtin_expm1f(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type log(T x) {
  return static_cast<half>(__builtin_logf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type log2(T x) {
  return static_cast<half>(__builtin_log2f(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type log10(T x) {
  return static_cast<half>(__builtin_log10f(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type log1p(T x) {
  return static_cast<half>(__builtin_log1pf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type sin(T x) {
  return static_cast<half>(__builtin_sinf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type cos(T x) {
  return static_cast<half>(__builtin_cosf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type tan(T x) {
  return static_cast<half>(__builtin_tanf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type asin(T x) {
  return static_cast<half>(__builtin_asinf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type acos(T x) {
  return static_cast<half>(__builtin_acosf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type atan(T x) {
  return static_cast<half>(__builtin_atanf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type sinh(T x) {
  return static_cast<half>(__builtin_sinhf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type cosh(T x) {
  return static_cast<half>(__builtin_coshf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type tanh(T x) {
  return static_cast<half>(__builtin_tanhf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type erf(T x) {
  return static_cast<half>(__builtin_erff(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type cbrt(T x) {
  return static_cast<half>(__builtin_cbrtf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type floor(T x) {
  return static_cast<half>(__builtin_floorf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type ceil(T x) {
  return static_cast<half>(__builtin_ceilf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type trunc(T x) {
  return static_cast<half>(__builtin_truncf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type round(T x) {
  return static_cast<half>(__builtin_roundf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type rint(T x) {
  return static_cast<half>(__builtin_rintf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type nearbyint(T x) {
  return static_cast<half>(__builtin_nearbyintf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type fabs(T x) {
  return static_cast<half>(__builtin_fabsf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type abs(T x) {
  return static_cast<half>(__builtin_fabsf(static_cast<float>(x)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type pow(T x, T y) {
  return static_cast<half>(__builtin_powf(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type fmod(T x, T y) {
  return static_cast<half>(__builtin_fmodf(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type atan2(T x, T y) {
  return static_cast<half>(__builtin_atan2f(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type copysign(T x, T y) {
  return static_cast<half>(__builtin_copysignf(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type fmin(T x, T y) {
  return static_cast<half>(__builtin_fminf(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, half>::type fmax(T x, T y) {
  return static_cast<half>(__builtin_fmaxf(static_cast<float>(x), static_cast<float>(y)));
}
template <class T> inline typename poplar::IfHalf<T, bool>::type isnan(T x) { return __builtin_isnan(static_cast<float>(x)); }
template <class T> inline typename poplar::IfHalf<T, bool>::type isinf(T x) { return __builtin_isinf(static_cast<float>(x)); }
template <class T> inline typename poplar::IfHalf<T, bool>::type isfinite(T x) { return __builtin_isfinite(static_cast<float>(x)); }
template <class T> inline typename poplar::IfHalf<T, bool>::type signbit(T x) { return __builtin_signbit(static_cast<float>(x)); }
}  // namespace std

using std::abs;
using std::acos;
using std::asin;
using std::atan;
using std::atan2;
using std::cbrt;
using std::ceil;
using std::copysign;
using std::cos;
using std::cosh;
using std::erf;
using std::exp;
using std::exp2;
using std::expm1;
using std::fabs;
using std::floor;
using std::fmax;
using std::fmin;
using std::fmod;
using std::isfinite;
using std::isinf;
using std::isnan;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::nearbyint;
using std::pow;
using std::rint;
using std::round;
using std::signbit;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

#endif
#endif
