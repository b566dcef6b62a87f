// half: IEEE binary16, rounded to nearest even after each operation. A type of its own, distinct from float.
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
#endif

#endif
#endif
