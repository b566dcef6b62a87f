/* Arithmetic builtin functions of the tile's compiler, in software: included by <ipu_builtins.h>. Halfs are computed in float and rounded
 * once. */
#ifndef PANDO_IPU_ARITHMETIC_BUILTINS_H
#define PANDO_IPU_ARITHMETIC_BUILTINS_H

#if defined(__POPC__) && defined(__cplusplus)

#include <poplar/VectorTypes.hpp>

namespace pando_builtins {

template <class T> struct Same {
  typedef T type;
};
template <class T> struct IfInteger {};
template <> struct IfInteger<int> {
  typedef int type;
};
template <> struct IfInteger<unsigned> {
  typedef unsigned type;
};
/* The integers with the bits of a T. */
template <class T> struct Bits {
  typedef T type;
};
template <> struct Bits<float> {
  typedef unsigned type;
};
template <> struct Bits<half> {
  typedef unsigned short type;
};
template <> struct Bits<pando_types::float2> {
  typedef pando_types::uint2 type;
};
template <> struct Bits<pando_types::float4> {
  typedef pando_types::uint4 type;
};
template <> struct Bits<pando_types::half2> {
  typedef pando_types::ushort2 type;
};
template <> struct Bits<pando_types::half4> {
  typedef pando_types::ushort4 type;
};

template <class T> inline typename Bits<T>::type bits_of(T x) { return __builtin_bit_cast(typename Bits<T>::type, x); }
template <class T> inline T of_bits(typename Bits<T>::type bits) { return __builtin_bit_cast(T, bits); }

inline float max(float x, float y) { return __builtin_fmaxf(x, y); }
inline float min(float x, float y) { return __builtin_fminf(x, y); }
inline float sigmoid(float x) { return 1.0f / (1.0f + __builtin_expf(-x)); }
inline unsigned byte(unsigned x, unsigned i) { return (x >> (8 * i)) & 0xff; }
inline unsigned bytes(unsigned a, unsigned b, unsigned c, unsigned d) { return a | b << 8 | c << 16 | d << 24; }

}  // namespace pando_builtins

/* Bit by bit, of numbers as well: x & y, x & ~y, x | y, ~x. */
template <class T> inline T __builtin_ipu_and(T x, typename pando_builtins::Same<T>::type y) {
  return pando_builtins::of_bits<T>(pando_builtins::bits_of(x) & pando_builtins::bits_of(y));
}
template <class T> inline T __builtin_ipu_andc(T x, typename pando_builtins::Same<T>::type y) {
  return pando_builtins::of_bits<T>(pando_builtins::bits_of(x) & ~pando_builtins::bits_of(y));
}
template <class T> inline T __builtin_ipu_or(T x, typename pando_builtins::Same<T>::type y) {
  return pando_builtins::of_bits<T>(pando_builtins::bits_of(x) | pando_builtins::bits_of(y));
}
template <class T> inline T __builtin_ipu_not(T x) { return pando_builtins::of_bits<T>(~pando_builtins::bits_of(x)); }
inline float __builtin_ipu_and_f32(float x, float y) { return __builtin_ipu_and(x, y); }
inline float __builtin_ipu_andc_f32(float x, float y) { return __builtin_ipu_andc(x, y); }
inline float __builtin_ipu_or_f32(float x, float y) { return __builtin_ipu_or(x, y); }
inline float __builtin_ipu_not_f32(float x) { return __builtin_ipu_not(x); }
inline pando_types::float2 __builtin_ipu_and_v2f32(pando_types::float2 x, pando_types::float2 y) { return __builtin_ipu_and(x, y); }
inline pando_types::float2 __builtin_ipu_andc_v2f32(pando_types::float2 x, pando_types::float2 y) { return __builtin_ipu_andc(x, y); }
inline pando_types::float2 __builtin_ipu_or_v2f32(pando_types::float2 x, pando_types::float2 y) { return __builtin_ipu_or(x, y); }
inline pando_types::float2 __builtin_ipu_not_v2f32(pando_types::float2 x) { return __builtin_ipu_not(x); }

/* Functions of two numbers, element by element: the overloaded name, and one for each type. */
#define PANDO_BINARY_BUILTIN(name, expression)                                                                                           \
  inline float __builtin_ipu_f32##name(float x, float y) { return expression; }                                                          \
  inline pando_types::float2 __builtin_ipu_f32v2##name(pando_types::float2 a, pando_types::float2 b) {                                   \
    for (unsigned i = 0; i < 2; ++i) a[i] = __builtin_ipu_f32##name(a[i], b[i]);                                                         \
    return a;                                                                                                                            \
  }                                                                                                                                      \
  inline pando_types::half2 __builtin_ipu_f16v2##name(pando_types::half2 a, pando_types::half2 b) {                                      \
    for (unsigned i = 0; i < 2; ++i) a[i] = static_cast<half>(__builtin_ipu_f32##name(a[i], b[i]));                                      \
    return a;                                                                                                                            \
  }                                                                                                                                      \
  inline pando_types::half4 __builtin_ipu_f16v4##name(pando_types::half4 a, pando_types::half4 b) {                                      \
    for (unsigned i = 0; i < 4; ++i) a[i] = static_cast<half>(__builtin_ipu_f32##name(a[i], b[i]));                                      \
    return a;                                                                                                                            \
  }                                                                                                                                      \
  inline float __builtin_ipu_##name(float x, float y) { return __builtin_ipu_f32##name(x, y); }                                          \
  inline pando_types::float2 __builtin_ipu_##name(pando_types::float2 x, pando_types::float2 y) {                                        \
    return __builtin_ipu_f32v2##name(x, y);                                                                                              \
  }                                                                                                                                      \
  inline pando_types::half2 __builtin_ipu_##name(pando_types::half2 x, pando_types::half2 y) { return __builtin_ipu_f16v2##name(x, y); } \
  inline pando_types::half4 __builtin_ipu_##name(pando_types::half4 x, pando_types::half4 y) { return __builtin_ipu_f16v4##name(x, y); }
/* A number wins over a NaN. */
PANDO_BINARY_BUILTIN(max, __builtin_fmaxf(x, y))
PANDO_BINARY_BUILTIN(min, __builtin_fminf(x, y))
PANDO_BINARY_BUILTIN(absadd, __builtin_fabsf(x) + __builtin_fabsf(y))
PANDO_BINARY_BUILTIN(absmax, __builtin_fmaxf(__builtin_fabsf(x), __builtin_fabsf(y)))
#undef PANDO_BINARY_BUILTIN
template <class T> inline typename pando_builtins::IfInteger<T>::type __builtin_ipu_max(T x, T y) { return x > y ? x : y; }
template <class T> inline typename pando_builtins::IfInteger<T>::type __builtin_ipu_min(T x, T y) { return x < y ? x : y; }

/* Comparisons: all bits of an element are 1 where it is true, as of a number. */
#define PANDO_COMPARISON_BUILTIN(name, op)                                                                           \
  inline float __builtin_ipu_f32cmp##name(float x, float y) { return __builtin_bit_cast(float, x op y ? ~0u : 0u); } \
  inline pando_types::float2 __builtin_ipu_f32v2cmp##name(pando_types::float2 x, pando_types::float2 y) {            \
    return __builtin_bit_cast(pando_types::float2, x op y);                                                          \
  }                                                                                                                  \
  inline pando_types::half2 __builtin_ipu_f16v2cmp##name(pando_types::half2 x, pando_types::half2 y) {               \
    return __builtin_bit_cast(pando_types::half2, x op y);                                                           \
  }                                                                                                                  \
  inline pando_types::half4 __builtin_ipu_f16v4cmp##name(pando_types::half4 x, pando_types::half4 y) {               \
    return __builtin_bit_cast(pando_types::half4, x op y);                                                           \
  }                                                                                                                  \
  inline float __builtin_ipu_cmp##name(float x, float y) { return __builtin_ipu_f32cmp##name(x, y); }                \
  inline pando_types::float2 __builtin_ipu_cmp##name(pando_types::float2 x, pando_types::float2 y) {                 \
    return __builtin_ipu_f32v2cmp##name(x, y);                                                                       \
  }                                                                                                                  \
  inline pando_types::half2 __builtin_ipu_cmp##name(pando_types::half2 x, pando_types::half2 y) {                    \
    return __builtin_ipu_f16v2cmp##name(x, y);                                                                       \
  }                                                                                                                  \
  inline pando_types::half4 __builtin_ipu_cmp##name(pando_types::half4 x, pando_types::half4 y) {                    \
    return __builtin_ipu_f16v4cmp##name(x, y);                                                                       \
  }
PANDO_COMPARISON_BUILTIN(eq, ==)
PANDO_COMPARISON_BUILTIN(ne, !=)
PANDO_COMPARISON_BUILTIN(lt, <)
PANDO_COMPARISON_BUILTIN(le, <=)
PANDO_COMPARISON_BUILTIN(gt, >)
PANDO_COMPARISON_BUILTIN(ge, >=)
#undef PANDO_COMPARISON_BUILTIN

/* Functions of one number, element by element. */
#define PANDO_UNARY_BUILTIN(name, expression)                                                 \
  inline float __builtin_ipu_f32##name(float x) { return expression; }                        \
  inline float __builtin_ipu_##name(float x) { return __builtin_ipu_f32##name(x); }           \
  inline pando_types::half2 __builtin_ipu_f16v2##name(pando_types::half2 a) {                 \
    for (unsigned i = 0; i < 2; ++i) a[i] = static_cast<half>(__builtin_ipu_f32##name(a[i])); \
    return a;                                                                                 \
  }                                                                                           \
  inline pando_types::half2 __builtin_ipu_##name(pando_types::half2 a) { return __builtin_ipu_f16v2##name(a); }
PANDO_UNARY_BUILTIN(exp, __builtin_expf(x))
PANDO_UNARY_BUILTIN(exp2, __builtin_exp2f(x))
PANDO_UNARY_BUILTIN(ln, __builtin_logf(x))
PANDO_UNARY_BUILTIN(log2, __builtin_log2f(x))
PANDO_UNARY_BUILTIN(sigm, pando_builtins::sigmoid(x))
PANDO_UNARY_BUILTIN(tanh, __builtin_tanhf(x))
#undef PANDO_UNARY_BUILTIN
inline float __builtin_ipu_sqrt(float x) { return __builtin_sqrtf(x); }
inline float __builtin_ipu_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }

inline float __builtin_ipu_f16tof32(half x) { return static_cast<float>(x); }
inline half __builtin_ipu_f32tof16(float x) { return static_cast<half>(x); }

/* At least limits[0], at most limits[1]. */
inline float __builtin_ipu_f32clamp(float x, pando_types::float2 limits) {
  return pando_builtins::min(pando_builtins::max(x, limits[0]), limits[1]);
}
inline pando_types::float2 __builtin_ipu_f32v2clamp(pando_types::float2 x, pando_types::float2 limits) {
  return pando_types::float2{__builtin_ipu_f32clamp(x[0], limits), __builtin_ipu_f32clamp(x[1], limits)};
}
inline pando_types::half2 __builtin_ipu_f16v2clamp(pando_types::half2 x, pando_types::half2 limits) {
  const pando_types::half2 low = {limits[0], limits[0]}, high = {limits[1], limits[1]};
  return __builtin_ipu_min(__builtin_ipu_max(x, low), high);
}
inline pando_types::half4 __builtin_ipu_f16v4clamp(pando_types::half4 x, pando_types::half2 limits) {
  const pando_types::half4 low = {limits[0], limits[0], limits[0], limits[0]}, high = {limits[1], limits[1], limits[1], limits[1]};
  return __builtin_ipu_min(__builtin_ipu_max(x, low), high);
}
inline float __builtin_ipu_clamp(float x, pando_types::float2 limits) { return __builtin_ipu_f32clamp(x, limits); }
inline pando_types::float2 __builtin_ipu_clamp(pando_types::float2 x, pando_types::float2 limits) {
  return __builtin_ipu_f32v2clamp(x, limits);
}
inline pando_types::half2 __builtin_ipu_clamp(pando_types::half2 x, pando_types::half2 limits) {
  return __builtin_ipu_f16v2clamp(x, limits);
}
inline pando_types::half4 __builtin_ipu_clamp(pando_types::half4 x, pando_types::half2 limits) {
  return __builtin_ipu_f16v4clamp(x, limits);
}

/* Of neighbours: the sum, in float, and the greater one. */
inline float __builtin_ipu_f16v2sum(pando_types::half2 x) { return static_cast<float>(x[0]) + static_cast<float>(x[1]); }
inline pando_types::float2 __builtin_ipu_f16v4sum(pando_types::half4 x) {
  return pando_types::float2{__builtin_ipu_f16v2sum(x.lo), __builtin_ipu_f16v2sum(x.hi)};
}
inline float __builtin_ipu_sum(pando_types::half2 x) { return __builtin_ipu_f16v2sum(x); }
inline pando_types::float2 __builtin_ipu_sum(pando_types::half4 x) { return __builtin_ipu_f16v4sum(x); }
inline half __builtin_ipu_f16v2maxc(pando_types::half2 x) { return static_cast<half>(pando_builtins::max(x[0], x[1])); }
inline pando_types::half2 __builtin_ipu_f16v4maxc(pando_types::half4 x) {
  return pando_types::half2{__builtin_ipu_f16v2maxc(x.lo), __builtin_ipu_f16v2maxc(x.hi)};
}

/* Bytes and words in other orders; element 0 is the lowest. */
inline unsigned __builtin_ipu_bitrev8(unsigned x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  return ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
}
inline unsigned __builtin_ipu_shuf8x8lo(unsigned x, unsigned y) {
  using namespace pando_builtins;
  return bytes(byte(x, 0), byte(y, 0), byte(x, 1), byte(y, 1));
}
inline unsigned __builtin_ipu_shuf8x8hi(unsigned x, unsigned y) {
  using namespace pando_builtins;
  return bytes(byte(x, 2), byte(y, 2), byte(x, 3), byte(y, 3));
}
inline unsigned __builtin_ipu_sort8x8lo(unsigned x, unsigned y) {
  using namespace pando_builtins;
  return bytes(byte(x, 0), byte(x, 2), byte(y, 0), byte(y, 2));
}
inline unsigned __builtin_ipu_sort8x8hi(unsigned x, unsigned y) {
  using namespace pando_builtins;
  return bytes(byte(x, 1), byte(x, 3), byte(y, 1), byte(y, 3));
}
inline unsigned __builtin_ipu_sort8(unsigned x) { return (x & 0xff0000ffu) | ((x >> 8) & 0x0000ff00u) | ((x & 0x0000ff00u) << 8); }
inline unsigned __builtin_ipu_swap8(unsigned x) { return ((x >> 8) & 0x00ff00ffu) | ((x & 0x00ff00ffu) << 8); }
inline pando_types::float2 __builtin_ipu_sort4x32lo(pando_types::float2 x, pando_types::float2 y) {
  return pando_types::float2{x[0], y[0]};
}
inline pando_types::float2 __builtin_ipu_sort4x32hi(pando_types::float2 x, pando_types::float2 y) {
  return pando_types::float2{x[1], y[1]};
}
inline pando_types::float2 __builtin_ipu_roll32(pando_types::float2 x, pando_types::float2 y) { return pando_types::float2{x[1], y[0]}; }

#endif
#endif
