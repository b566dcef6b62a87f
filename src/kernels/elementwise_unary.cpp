#include "kernels/elementwise.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise_unary.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
#include "kernels/elementwise_math.h"
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

// Loops whose operands may be the result itself: no iteration reads what another writes.
#define PANDO_ELEMENTS _Pragma("clang loop vectorize(assume_safety) interleave(assume_safety)") for (std::size_t i = 0; i < n; ++i)

#define PANDO_FUNCTION(name, expression)                      \
  struct name {                                               \
    static HWY_INLINE float of(float x) { return expression; } \
  };
PANDO_FUNCTION(Absolute, __builtin_fabsf(x))
PANDO_FUNCTION(Asin, asin_f(x))
PANDO_FUNCTION(Cbrt, cbrt_f(x))
PANDO_FUNCTION(Ceil, __builtin_ceilf(x))
PANDO_FUNCTION(Cos, cos_f(x))
PANDO_FUNCTION(Erf, erf_f(x))
PANDO_FUNCTION(Exp, exp_f(x))
PANDO_FUNCTION(Expm1, expm1_f(x))
PANDO_FUNCTION(Exp2, exp2_f(x))
PANDO_FUNCTION(Floor, __builtin_floorf(x))
PANDO_FUNCTION(GeluErf, gelu_erf_f(x))
PANDO_FUNCTION(Inverse, 1.0f / x)
PANDO_FUNCTION(Log, log_f(x))
PANDO_FUNCTION(Log1p, log1p_f(x))
PANDO_FUNCTION(Negate, -x)
PANDO_FUNCTION(NearbyInt, __builtin_nearbyintf(x))
PANDO_FUNCTION(Relu, x < 0 ? 0.0f : x)
PANDO_FUNCTION(Signum, x > 0 ? 1.0f : x < 0 ? -1.0f : x)
PANDO_FUNCTION(Sin, sin_f(x))
PANDO_FUNCTION(Tan, tan_f(x))
PANDO_FUNCTION(Tanh, tanh_f(x))
// The largest float below 1/2, so that its own sum stays below 1; from 2^23 on all floats are integers.
PANDO_FUNCTION(Round, __builtin_fabsf(x) < 0x1p23f ? with_sign_of(__builtin_truncf(__builtin_fabsf(x) + 0x1.fffffep-2f), x) : x)
PANDO_FUNCTION(Sqrt, __builtin_sqrtf(x))
PANDO_FUNCTION(Square, x * x)
PANDO_FUNCTION(Sigmoid, sigmoid_f(x))
PANDO_FUNCTION(Rsqrt, 1.0f / __builtin_sqrtf(x))
PANDO_FUNCTION(Trunc, __builtin_truncf(x))
PANDO_FUNCTION(IsFinite, (bits_of(x) & 0x7fffffffu) < 0x7f800000u ? 1.0f : 0.0f)
PANDO_FUNCTION(IsInf, (bits_of(x) & 0x7fffffffu) == 0x7f800000u ? 1.0f : 0.0f)
PANDO_FUNCTION(IsNaN, (bits_of(x) & 0x7fffffffu) > 0x7f800000u ? 1.0f : 0.0f)
#undef PANDO_FUNCTION

template <class F, class T>
void loop(const T* a, T* out, std::size_t n) {
  PANDO_ELEMENTS out[i] = static_cast<T>(F::of(static_cast<float>(a[i])));
}

template <class F, class T>
void test(const T* a, std::uint8_t* out, std::size_t n) {
  PANDO_ELEMENTS out[i] = F::of(static_cast<float>(a[i])) != 0;
}

// Blocks in which an angle is too large go through the C library, whose reduction is exact.
template <class F, class T>
void angles(const T* a, T* out, std::size_t n, double (*exact)(double)) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    std::uint32_t large = 0;
    for (std::size_t i = 0; i < m; ++i)
      large |= (bits_of(static_cast<float>(a[begin + i])) & 0x7fffffffu) > bits_of(kLargestAngle) ? 1u : 0u;
    if (large == 0) loop<F>(a + begin, out + begin, m);
    else
      for (std::size_t i = 0; i < m; ++i) {
        const float x = static_cast<float>(a[begin + i]);
        out[begin + i] = static_cast<T>(__builtin_fabsf(x) <= kLargestAngle ? F::of(x) : static_cast<float>(exact(static_cast<double>(x))));
      }
  }
}

template <class T>
void floating(Unary op, const void* from, void* to, std::size_t n) {
  const T* a = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  switch (op) {
    case Unary::absolute: return loop<Absolute>(a, out, n);
    case Unary::asin: return loop<Asin>(a, out, n);
    case Unary::cbrt: return loop<Cbrt>(a, out, n);
    case Unary::ceil: return loop<Ceil>(a, out, n);
    case Unary::cos: return angles<Cos>(a, out, n, [](double x) { return std::cos(x); });
    case Unary::erf: return loop<Erf>(a, out, n);
    case Unary::exp: return loop<Exp>(a, out, n);
    case Unary::expm1: return loop<Expm1>(a, out, n);
    case Unary::exp2: return loop<Exp2>(a, out, n);
    case Unary::floor: return loop<Floor>(a, out, n);
    case Unary::gelu_erf: return loop<GeluErf>(a, out, n);
    case Unary::inverse: return loop<Inverse>(a, out, n);
    case Unary::is_finite: return test<IsFinite>(a, static_cast<std::uint8_t*>(to), n);
    case Unary::is_inf: return test<IsInf>(a, static_cast<std::uint8_t*>(to), n);
    case Unary::is_nan: return test<IsNaN>(a, static_cast<std::uint8_t*>(to), n);
    case Unary::log: return loop<Log>(a, out, n);
    case Unary::log1p: return loop<Log1p>(a, out, n);
    case Unary::negate: return loop<Negate>(a, out, n);
    case Unary::nearby_int: return loop<NearbyInt>(a, out, n);
    case Unary::relu: return loop<Relu>(a, out, n);
    case Unary::signum: return loop<Signum>(a, out, n);
    case Unary::sin: return angles<Sin>(a, out, n, [](double x) { return std::sin(x); });
    case Unary::tan: return angles<Tan>(a, out, n, [](double x) { return std::tan(x); });
    case Unary::tanh: return loop<Tanh>(a, out, n);
    case Unary::round: return loop<Round>(a, out, n);
    case Unary::sqrt: return loop<Sqrt>(a, out, n);
    case Unary::square: return loop<Square>(a, out, n);
    case Unary::sigmoid: return loop<Sigmoid>(a, out, n);
    case Unary::rsqrt: return loop<Rsqrt>(a, out, n);
    case Unary::trunc: return loop<Trunc>(a, out, n);
    default: return;
  }
}

template <class T>
T square_root(T x) {
  if (x <= 0) return 0;
  T root = static_cast<T>(std::sqrt(static_cast<double>(x)));
  // Doubles of 64-bit integers are rounded.
  if constexpr (sizeof(T) == 8) {
    while (root > x / root) --root;
    while (root + 1 <= x / (root + 1)) ++root;
  }
  return root;
}

template <class T>
void integers(Unary op, const void* from, void* to, std::size_t n) {
  using U = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, U>;  // products of short types would overflow an int
  constexpr unsigned kBits = 8 * sizeof(T);
  const T* a = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  switch (op) {
    case Unary::absolute: PANDO_ELEMENTS out[i] = static_cast<T>(a[i] < 0 ? Wide{0} - static_cast<Wide>(a[i]) : static_cast<Wide>(a[i])); return;
    case Unary::bitwise_not: PANDO_ELEMENTS out[i] = static_cast<T>(~a[i]); return;
    case Unary::count_leading_zeros:
      for (std::size_t i = 0; i < n; ++i)
        out[i] = static_cast<T>(a[i] == 0 ? kBits : static_cast<unsigned>(__builtin_clzll(static_cast<U>(a[i]))) - (64 - kBits));
      return;
    case Unary::negate: PANDO_ELEMENTS out[i] = static_cast<T>(Wide{0} - static_cast<Wide>(a[i])); return;
    case Unary::popcount: PANDO_ELEMENTS out[i] = static_cast<T>(__builtin_popcountll(static_cast<U>(a[i]))); return;
    case Unary::relu: PANDO_ELEMENTS out[i] = a[i] < 0 ? T{0} : a[i]; return;
    case Unary::signum: PANDO_ELEMENTS out[i] = static_cast<T>((a[i] > 0) - (a[i] < 0)); return;
    case Unary::square: PANDO_ELEMENTS out[i] = static_cast<T>(static_cast<Wide>(a[i]) * static_cast<Wide>(a[i])); return;
    case Unary::sqrt:
      for (std::size_t i = 0; i < n; ++i) out[i] = square_root(a[i]);
      return;
    default: return;
  }
}

void booleans(Unary op, const void* from, void* to, std::size_t n) {
  const std::uint8_t* a = static_cast<const std::uint8_t*>(from);
  std::uint8_t* out = static_cast<std::uint8_t*>(to);
  if (op == Unary::logical_not || op == Unary::bitwise_not) PANDO_ELEMENTS out[i] = a[i] == 0;
}

void unary(Unary op, Type type, const void* a, void* out, std::size_t n) {
  switch (type) {
    case Type::f32: return floating<float>(op, a, out, n);
    case Type::f16: return floating<_Float16>(op, a, out, n);
    case Type::boolean: return booleans(op, a, out, n);
    case Type::i8: return integers<std::int8_t>(op, a, out, n);
    case Type::u8: return integers<std::uint8_t>(op, a, out, n);
    case Type::i16: return integers<std::int16_t>(op, a, out, n);
    case Type::u16: return integers<std::uint16_t>(op, a, out, n);
    case Type::i32: return integers<std::int32_t>(op, a, out, n);
    case Type::u32: return integers<std::uint32_t>(op, a, out, n);
    case Type::i64: return integers<std::int64_t>(op, a, out, n);
    case Type::u64: return integers<std::uint64_t>(op, a, out, n);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {
HWY_EXPORT(unary);
}
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_unary(Unary op, Type type, const void* a, void* out, std::size_t n) { HWY_DYNAMIC_DISPATCH(unary)(op, type, a, out, n); }
void pando_exp_f32(const float* a, float* out, std::size_t n) { pando_unary(Unary::exp, Type::f32, a, out, n); }
void pando_log_f32(const float* a, float* out, std::size_t n) { pando_unary(Unary::log, Type::f32, a, out, n); }
void pando_tanh_f32(const float* a, float* out, std::size_t n) { pando_unary(Unary::tanh, Type::f32, a, out, n); }
void pando_sigmoid_f32(const float* a, float* out, std::size_t n) { pando_unary(Unary::sigmoid, Type::f32, a, out, n); }
#endif
