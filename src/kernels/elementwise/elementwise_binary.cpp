#include "kernels/elementwise/elementwise.h"

#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_binary.cpp"
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

#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, floats, generated, expression, ...) \
  struct name##_of_floats {                                                                                   \
    static HWY_INLINE float of([[maybe_unused]] float x, [[maybe_unused]] float y) { return expression; }     \
  };
PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW

// The ways of floats.

template <class F, class T>
void none(const T*, const T*, T*, std::size_t) {}

template <class F>
void loop(const float* a, const float* b, float* out, std::size_t n) {
  PANDO_ELEMENTS out[i] = F::of(a[i], b[i]);
}

// What compares nothing.
template <class F>
constexpr bool is_plain = std::is_same_v<F, add_of_floats> || std::is_same_v<F, subtract_of_floats> ||
                          std::is_same_v<F, multiply_of_floats> || std::is_same_v<F, divide_of_floats>;

// Halfs in blocks of floats: clang compares what it knows to come from _Float16 one by one.
template <class F>
void loop(const _Float16* a, const _Float16* b, _Float16* out, std::size_t n) {
  if constexpr (is_plain<F>) {
    PANDO_ELEMENTS out[i] = static_cast<_Float16>(F::of(static_cast<float>(a[i]), static_cast<float>(b[i])));
    return;
  }
  constexpr std::size_t kBlock = 256;
  float x[kBlock], y[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    for (std::size_t i = 0; i < m; ++i) x[i] = static_cast<float>(a[begin + i]);
    for (std::size_t i = 0; i < m; ++i) y[i] = static_cast<float>(b[begin + i]);
    loop<F>(x, y, x, m);
    for (std::size_t i = 0; i < m; ++i) out[begin + i] = static_cast<_Float16>(x[i]);
  }
}

HWY_INLINE bool is_ordinary(float x) { return (bits_of(x) & 0x7fffffffu) - 1 < 0x7f7fffffu; }  // neither 0, infinite nor NaN
HWY_INLINE bool is_finite(float x) { return (bits_of(x) & 0x7fffffffu) < 0x7f800000u; }

// For which operands the vector functions are right; the C library has the others.
HWY_INLINE bool fits(atan2_of_floats, float y, float x) { return is_finite(x) && is_finite(y) && (x != 0 || y != 0); }
HWY_INLINE bool fits(power_of_floats, float x, float y) { return is_ordinary(x) && is_finite(y); }
HWY_INLINE bool fits(remainder_of_floats, float x, float y) { return is_finite(x) && is_ordinary(y) && __builtin_fabsf(x / y) < 0x1p29f; }

template <class F, class T>
void guarded(const T* a, const T* b, T* out, std::size_t n, double (*exact)(double, double)) {
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    std::uint32_t misfits = 0;
    for (std::size_t i = begin; i < begin + m; ++i) misfits |= fits(F(), static_cast<float>(a[i]), static_cast<float>(b[i])) ? 0u : 1u;
    if (misfits == 0) {
      loop<F>(a + begin, b + begin, out + begin, m);
      continue;
    }
    T made[kBlock];
    loop<F>(a + begin, b + begin, made, m);
    for (std::size_t i = 0; i < m; ++i) {
      const float x = static_cast<float>(a[begin + i]), y = static_cast<float>(b[begin + i]);
      if (!fits(F(), x, y)) made[i] = static_cast<T>(static_cast<float>(exact(static_cast<double>(x), static_cast<double>(y))));
    }
    for (std::size_t i = 0; i < m; ++i) out[begin + i] = made[i];
  }
}

// Relations are compared as they are, whatever the type.
template <class F, class T>
void relation(const T*, const T*, T*, std::size_t) {}

#define PANDO_RELATION_relation(expression) \
  PANDO_ELEMENTS {                          \
    const T x = a[i], y = b[i];             \
    out[i] = expression;                    \
  }                                         \
  return true;
#define PANDO_RELATION_none(expression) return false;
#define PANDO_RELATION_loop PANDO_RELATION_none
#define PANDO_RELATION_angles PANDO_RELATION_none
#define PANDO_RELATION_powers PANDO_RELATION_none
#define PANDO_RELATION_remainders PANDO_RELATION_none

template <class T>
bool relate(Binary op, const T* a, const T* b, std::uint8_t* out, std::size_t n) {
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, way, text, expression, ...) \
  case Binary::name: {                                                                                \
    PANDO_RELATION_##way(expression)                                                                  \
  }
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return false;
  }
}
#undef PANDO_RELATION_relation
#undef PANDO_RELATION_none
#undef PANDO_RELATION_loop
#undef PANDO_RELATION_angles
#undef PANDO_RELATION_powers
#undef PANDO_RELATION_remainders

// Relations of half as of float: clang compares _Float16 one by one otherwise.
template <>
bool relate(Binary op, const _Float16* a, const _Float16* b, std::uint8_t* out, std::size_t n) {
  constexpr std::size_t kBlock = 256;
  if (!is_relation(op)) return false;
  float x[kBlock], y[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    for (std::size_t i = 0; i < m; ++i) x[i] = static_cast<float>(a[begin + i]);
    for (std::size_t i = 0; i < m; ++i) y[i] = static_cast<float>(b[begin + i]);
    relate(op, x, y, out + begin, m);
  }
  return true;
}

template <class F, class T>
void angles(const T* a, const T* b, T* out, std::size_t n) {
  guarded<F>(a, b, out, n, [](double y, double x) { return std::atan2(y, x); });
}
template <class F, class T>
void powers(const T* a, const T* b, T* out, std::size_t n) {
  guarded<F>(a, b, out, n, [](double x, double y) { return std::pow(x, y); });
}
template <class F, class T>
void remainders(const T* a, const T* b, T* out, std::size_t n) {
  guarded<F>(a, b, out, n, [](double x, double y) { return std::fmod(x, y); });
}

template <class T>
void floating(Binary op, const void* first, const void* second, void* to, std::size_t n) {
  const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  T* out = static_cast<T*>(to);
  if (relate(op, a, b, static_cast<std::uint8_t*>(to), n)) return;
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, way, ...) \
  case Binary::name: return way<name##_of_floats>(a, b, out, n);
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return;
  }
}

template <class T>
HWY_INLINE T quotient(T x, T y) {
  using U = std::make_unsigned_t<T>;
  // Quotients of up to 32 bits are exact when the doubles' quotient is truncated, and double division runs in vectors.
  if constexpr (sizeof(T) <= 4) {
    const double q = static_cast<double>(x) / static_cast<double>(y == 0 ? T{1} : y);
    return y == 0 ? T{0} : static_cast<T>(static_cast<std::int64_t>(q));
  } else {
    if (y == 0) return 0;
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return static_cast<T>(U{0} - static_cast<U>(x));
    return x / y;
  }
}

template <class T, bool kRest = false>
void divide(const T* a, const T* b, T* out, std::size_t n) {
  using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
  const auto of = [](T x, T y) {
    const T q = quotient(x, y);
    return kRest ? static_cast<T>(static_cast<Wide>(x) - static_cast<Wide>(q) * static_cast<Wide>(y)) : q;
  };
  if constexpr (sizeof(T) == 8)
    for (std::size_t i = 0; i < n; ++i) out[i] = of(a[i], b[i]);
  else
    PANDO_ELEMENTS out[i] = of(a[i], b[i]);
}

template <class T>
T integer_power(T x, T y) {
  using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
  if (y < 0) return x == 1 ? T{1} : x == static_cast<T>(-1) ? ((y & 1) != 0 ? x : T{1}) : T{0};
  Wide product = 1, base = static_cast<Wide>(x);
  for (auto left = static_cast<std::make_unsigned_t<T>>(y); left != 0; left = static_cast<std::make_unsigned_t<T>>(left >> 1)) {
    if ((left & 1) != 0) product *= base;
    base *= base;
  }
  return static_cast<T>(product);
}

// The ways of integers.
#define PANDO_INTEGERS_none(expression) return;
#define PANDO_INTEGERS_relation(expression) return;
#define PANDO_INTEGERS_quotients(expression) return divide(a, b, out, n);
#define PANDO_INTEGERS_rests(expression) return divide<T, true>(a, b, out, n);
#define PANDO_INTEGERS_loop(expression) \
  PANDO_ELEMENTS {                      \
    const T x = a[i], y = b[i];         \
    out[i] = expression;                \
  }                                     \
  return;
#define PANDO_INTEGERS_each(expression) \
  for (std::size_t i = 0; i < n; ++i) { \
    const T x = a[i], y = b[i];         \
    out[i] = expression;                \
  }                                     \
  return;

template <class T>
void integers(Binary op, const void* first, const void* second, void* to, std::size_t n) {
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  using W = std::conditional_t<(sizeof(T) < 4), std::uint32_t, U>;  // products of short types would overflow an int
  constexpr U kBits = 8 * sizeof(T);
  constexpr W kOnes = ~W{0};
  const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  T* out = static_cast<T*>(to);
  if (relate(op, a, b, static_cast<std::uint8_t*>(to), n)) return;
  switch (op) {
#define PANDO_ROW(NAME, name, types, float_cycles, integer_cycles, chain, floats, float_text, of_floats, way, text, expression) \
  case Binary::name: {                                                                                                          \
    PANDO_INTEGERS_##way(expression)                                                                                            \
  }
    PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
    default: return;
  }
}
#undef PANDO_INTEGERS_none
#undef PANDO_INTEGERS_relation
#undef PANDO_INTEGERS_quotients
#undef PANDO_INTEGERS_rests
#undef PANDO_INTEGERS_loop
#undef PANDO_INTEGERS_each

void booleans(Binary op, const void* first, const void* second, void* to, std::size_t n) {
  const std::uint8_t *a = static_cast<const std::uint8_t*>(first), *b = static_cast<const std::uint8_t*>(second);
  std::uint8_t* out = static_cast<std::uint8_t*>(to);
  if (relate(op, a, b, out, n)) return;
  switch (op) {
    case Binary::logical_and:
    case Binary::bitwise_and: PANDO_ELEMENTS out[i] = (a[i] != 0) & (b[i] != 0); return;
    case Binary::logical_or:
    case Binary::bitwise_or: PANDO_ELEMENTS out[i] = (a[i] != 0) | (b[i] != 0); return;
    case Binary::bitwise_xor: PANDO_ELEMENTS out[i] = (a[i] != 0) != (b[i] != 0); return;
    case Binary::bitwise_xnor: PANDO_ELEMENTS out[i] = (a[i] != 0) == (b[i] != 0); return;
    default: return;
  }
}

void binary(Binary op, Type type, const void* a, const void* b, void* out, std::size_t n) {
  switch (type) {
    case Type::f32: return floating<float>(op, a, b, out, n);
    case Type::f16: return floating<_Float16>(op, a, b, out, n);
    case Type::boolean: return booleans(op, a, b, out, n);
    case Type::i8: return integers<std::int8_t>(op, a, b, out, n);
    case Type::u8: return integers<std::uint8_t>(op, a, b, out, n);
    case Type::i16: return integers<std::int16_t>(op, a, b, out, n);
    case Type::u16: return integers<std::uint16_t>(op, a, b, out, n);
    case Type::i32: return integers<std::int32_t>(op, a, b, out, n);
    case Type::u32: return integers<std::uint32_t>(op, a, b, out, n);
    case Type::i64: return integers<std::int64_t>(op, a, b, out, n);
    case Type::u64: return integers<std::uint64_t>(op, a, b, out, n);
  }
}

template <class T>
void clamp_all(const void* value, const void* least, const void* greatest, void* to, std::size_t n) {
  const T *x = static_cast<const T*>(value), *low = static_cast<const T*>(least), *high = static_cast<const T*>(greatest);
  T* out = static_cast<T*>(to);
  PANDO_ELEMENTS {
    const T v = x[i], l = low[i], h = high[i], bounded = v < l ? l : v;
    out[i] = bounded > h ? h : bounded;
  }
}

// As floats: see loop.
void clamp_halfs(const _Float16* value, const _Float16* least, const _Float16* greatest, _Float16* out, std::size_t n) {
  constexpr std::size_t kBlock = 256;
  float x[kBlock], low[kBlock], high[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    for (std::size_t i = 0; i < m; ++i) x[i] = static_cast<float>(value[begin + i]);
    for (std::size_t i = 0; i < m; ++i) low[i] = static_cast<float>(least[begin + i]);
    for (std::size_t i = 0; i < m; ++i) high[i] = static_cast<float>(greatest[begin + i]);
    clamp_all<float>(x, low, high, x, m);
    for (std::size_t i = 0; i < m; ++i) out[begin + i] = static_cast<_Float16>(x[i]);
  }
}

void clamp(Type type, const void* x, const void* low, const void* high, void* out, std::size_t n) {
  switch (type) {
    case Type::f32: return clamp_all<float>(x, low, high, out, n);
    case Type::f16:
      return clamp_halfs(static_cast<const _Float16*>(x), static_cast<const _Float16*>(low), static_cast<const _Float16*>(high),
                         static_cast<_Float16*>(out), n);
    case Type::boolean:
    case Type::u8: return clamp_all<std::uint8_t>(x, low, high, out, n);
    case Type::i8: return clamp_all<std::int8_t>(x, low, high, out, n);
    case Type::i16: return clamp_all<std::int16_t>(x, low, high, out, n);
    case Type::u16: return clamp_all<std::uint16_t>(x, low, high, out, n);
    case Type::i32: return clamp_all<std::int32_t>(x, low, high, out, n);
    case Type::u32: return clamp_all<std::uint32_t>(x, low, high, out, n);
    case Type::i64: return clamp_all<std::int64_t>(x, low, high, out, n);
    case Type::u64: return clamp_all<std::uint64_t>(x, low, high, out, n);
  }
}

template <class T>
void select_all(const void* first, const void* second, const void* condition, void* to, std::size_t n) {
  const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
  const std::uint8_t* c = static_cast<const std::uint8_t*>(condition);
  T* out = static_cast<T*>(to);
  PANDO_ELEMENTS out[i] = c[i] != 0 ? a[i] : b[i];
}

void select(std::size_t bytes, const void* a, const void* b, const void* condition, void* out, std::size_t n) {
  switch (bytes) {
    case 1: return select_all<std::uint8_t>(a, b, condition, out, n);
    case 2: return select_all<std::uint16_t>(a, b, condition, out, n);
    case 4: return select_all<std::uint32_t>(a, b, condition, out, n);
    default: return select_all<std::uint64_t>(a, b, condition, out, n);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {
HWY_EXPORT(binary);
HWY_EXPORT(clamp);
HWY_EXPORT(select);
}  // namespace
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_binary(Binary op, Type type, const void* a, const void* b, void* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(binary)(op, type, a, b, out, n);
}
void pando_clamp(Type type, const void* value, const void* least, const void* greatest, void* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(clamp)(type, value, least, greatest, out, n);
}
void pando_select(std::size_t element_bytes, const void* a, const void* b, const void* condition, void* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(select)(element_bytes, a, b, condition, out, n);
}
#endif
