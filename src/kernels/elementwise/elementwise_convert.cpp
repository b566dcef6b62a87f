#include "kernels/elementwise/elementwise.h"

#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_convert.cpp"
#include "kernels/vector_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels {
namespace HWY_NAMESPACE {
namespace {

struct Boolean {
  std::uint8_t value;
};

template <class To, class From>
HWY_INLINE To converted(From x) {
  if constexpr (std::is_same_v<From, Boolean>)
    return converted<To>(static_cast<std::uint8_t>(x.value != 0));
  else if constexpr (std::is_same_v<To, Boolean>)
    return {static_cast<std::uint8_t>(x != From{0})};
  else if constexpr (std::is_same_v<From, _Float16> && std::is_integral_v<To>)
    return converted<To>(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, _Float16> && std::is_integral_v<From>)
    return static_cast<To>(static_cast<float>(x));
  else if constexpr (std::is_same_v<From, float> && std::is_integral_v<To>) {
    // Bounds as floats: the upper one is the first power of two that does not fit.
    constexpr float kLow = static_cast<float>(std::numeric_limits<To>::min());
    constexpr float kEnd = static_cast<float>(std::numeric_limits<To>::max() / 2 + 1) * 2.0f;
    const bool fits = x >= kLow && x < kEnd;
    const To value = static_cast<To>(fits ? x : 0.0f);
    return x >= kEnd ? std::numeric_limits<To>::max() : x < kLow ? std::numeric_limits<To>::min() : value;
  } else
    return static_cast<To>(x);
}

template <class From, class To>
void loop(const void* in, void* to, std::size_t n) {
  const From* a = static_cast<const From*>(in);
  To* out = static_cast<To*>(to);
  _Pragma("clang loop vectorize(assume_safety) interleave(assume_safety)") for (std::size_t i = 0; i < n; ++i) out[i] = converted<To>(a[i]);
}

template <class From>
void convert_from(Type to, const void* in, void* out, std::size_t n) {
  switch (to) {
    case Type::f32: return loop<From, float>(in, out, n);
    case Type::f16: return loop<From, _Float16>(in, out, n);
    case Type::boolean: return loop<From, Boolean>(in, out, n);
    case Type::i8: return loop<From, std::int8_t>(in, out, n);
    case Type::u8: return loop<From, std::uint8_t>(in, out, n);
    case Type::i16: return loop<From, std::int16_t>(in, out, n);
    case Type::u16: return loop<From, std::uint16_t>(in, out, n);
    case Type::i32: return loop<From, std::int32_t>(in, out, n);
    case Type::u32: return loop<From, std::uint32_t>(in, out, n);
    case Type::i64: return loop<From, std::int64_t>(in, out, n);
    case Type::u64: return loop<From, std::uint64_t>(in, out, n);
  }
}

// By way of floats: clang compares what it knows to come from _Float16 one by one.
void convert_halfs(Type to, const void* in, void* out, std::size_t n) {
  if (to == Type::f32 || to == Type::f16) return convert_from<_Float16>(to, in, out, n);
  constexpr std::size_t kBlock = 256;
  float x[kBlock];
  for (std::size_t begin = 0; begin < n; begin += kBlock) {
    const std::size_t m = n - begin < kBlock ? n - begin : kBlock;
    loop<_Float16, float>(static_cast<const _Float16*>(in) + begin, x, m);
    convert_from<float>(to, x, static_cast<char*>(out) + begin * size_of(to), m);
  }
}

void convert(Type from, Type to, const void* in, void* out, std::size_t n) {
  switch (from) {
    case Type::f32: return convert_from<float>(to, in, out, n);
    case Type::f16: return convert_halfs(to, in, out, n);
    case Type::boolean: return convert_from<Boolean>(to, in, out, n);
    case Type::i8: return convert_from<std::int8_t>(to, in, out, n);
    case Type::u8: return convert_from<std::uint8_t>(to, in, out, n);
    case Type::i16: return convert_from<std::int16_t>(to, in, out, n);
    case Type::u16: return convert_from<std::uint16_t>(to, in, out, n);
    case Type::i32: return convert_from<std::int32_t>(to, in, out, n);
    case Type::u32: return convert_from<std::uint32_t>(to, in, out, n);
    case Type::i64: return convert_from<std::int64_t>(to, in, out, n);
    case Type::u64: return convert_from<std::uint64_t>(to, in, out, n);
  }
}

template <class T>
void fill(const void* value, void* to, std::size_t n) {
  const T x = *static_cast<const T*>(value);
  T* out = static_cast<T*>(to);
  for (std::size_t i = 0; i < n; ++i) out[i] = x;
}

void splat(std::size_t bytes, const void* value, void* out, std::size_t n) {
  switch (bytes) {
    case 1: return fill<std::uint8_t>(value, out, n);
    case 2: return fill<std::uint16_t>(value, out, n);
    case 4: return fill<std::uint32_t>(value, out, n);
    default: return fill<std::uint64_t>(value, out, n);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
namespace {
HWY_EXPORT(convert);
HWY_EXPORT(splat);
}  // namespace
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_convert(Type from, Type to, const void* in, void* out, std::size_t n) { HWY_DYNAMIC_DISPATCH(convert)(from, to, in, out, n); }
void pando_splat(std::size_t element_bytes, const void* value, void* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(splat)(element_bytes, value, out, n);
}
#endif
