#include "kernels/elementwise/elementwise.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_unary.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
#include "kernels/elementwise/elementwise_math.h"
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

// Loops whose operands may be the result itself: no iteration reads what another writes.
#define PANDO_ELEMENTS _Pragma("clang loop vectorize(assume_safety) interleave(assume_safety)") for (std::size_t i = 0; i < n; ++i)

#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, floats, generated, expression, ...) \
  struct name##_of_float {                                                                             \
    static HWY_INLINE float of([[maybe_unused]] float x) { return expression; }                        \
  };
PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW

// The ways of floats.

template <class F, class T>
void none(const T*, T*, std::size_t) {}

template <class F>
void loop(const float* a, float* out, std::size_t n) {
  PANDO_ELEMENTS out[i] = F::of(a[i]);
}

// What compares nothing.
template <class F>
constexpr bool is_plain = std::is_same_v<F, absolute_of_float> || std::is_same_v<F, negate_of_float> || std::is_same_v<F, sqrt_of_float> ||
                          std::is_same_v<F, square_of_float>;

// Halfs in blocks of floats: clang compares what it knows to come from _Float16 one by one.
template <class F>
void loop(const _Float16* a, _Float16* out, std::size_t n) {
  if constexpr (is_plain<F>) {
    PANDO_ELEMENTS out[i] = static_cast<_Float16>(F::of(static_cast<float>(a[i])));
    return;
  }
  constexpr std::size_t kBlock = 256;
  float x[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    for (std::size_t i = 0; i < m; ++i) x[i] = static_cast<float>(a[begin + i]);
    loop<F>(x, x, m);
    for (std::size_t i = 0; i < m; ++i) out[begin + i] = static_cast<_Float16>(x[i]);
  }
}

template <class F, class T>
void test(const T* a, T* to, std::size_t n) {
  auto* const out = reinterpret_cast<std::uint8_t*>(to);
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
    if (large == 0)
      loop<F>(a + begin, out + begin, m);
    else
      for (std::size_t i = 0; i < m; ++i) {
        const float x = static_cast<float>(a[begin + i]);
        out[begin + i] = static_cast<T>(__builtin_fabsf(x) <= kLargestAngle ? F::of(x) : static_cast<float>(exact(static_cast<double>(x))));
      }
  }
}

template <class F, class T>
void sines(const T* a, T* out, std::size_t n) {
  angles<F>(a, out, n, [](double x) { return std::sin(x); });
}
template <class F, class T>
void cosines(const T* a, T* out, std::size_t n) {
  angles<F>(a, out, n, [](double x) { return std::cos(x); });
}
template <class F, class T>
void tangents(const T* a, T* out, std::size_t n) {
  angles<F>(a, out, n, [](double x) { return std::tan(x); });
}

template <class T>
void floating(Unary op, const void* from, void* to, std::size_t n) {
  const T* a = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, way, ...) \
  case Unary::name: return way<name##_of_float>(a, out, n);
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
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

// The ways of integers.
#define PANDO_INTEGERS_none(expression) return;
#define PANDO_INTEGERS_loop(expression) \
  PANDO_ELEMENTS {                      \
    const T x = a[i];                   \
    out[i] = expression;                \
  }                                     \
  return;
#define PANDO_INTEGERS_each(expression) \
  for (std::size_t i = 0; i < n; ++i) { \
    const T x = a[i];                   \
    out[i] = expression;                \
  }                                     \
  return;

template <class T>
void integers(Unary op, const void* from, void* to, std::size_t n) {
  using U = std::make_unsigned_t<T>;
  using W = std::conditional_t<(sizeof(T) < 4), std::uint32_t, U>;  // products of short types would overflow an int
  constexpr unsigned kBits = 8 * sizeof(T);
  constexpr W kOnes = ~W{0};
  const T* a = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, floats, float_text, of_floats, way, text, expression) \
  case Unary::name: {                                                                                                    \
    PANDO_INTEGERS_##way(expression)                                                                                     \
  }
    PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return;
  }
}
#undef PANDO_INTEGERS_none
#undef PANDO_INTEGERS_loop
#undef PANDO_INTEGERS_each

void booleans(Unary op, const void* from, void* to, std::size_t n) {
  const std::uint8_t* a = static_cast<const std::uint8_t*>(from);
  std::uint8_t* out = static_cast<std::uint8_t*>(to);
  // All functions of a boolean are its opposite.
  if (has(op, Type::boolean)) PANDO_ELEMENTS out[i] = a[i] == 0;
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
#endif
