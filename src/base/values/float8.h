// float8: what the machine calls quarter. Its numbers mean something only together with a format and a scale.
//
//   format   sign exponent mantissa   bias   greatest        zero 0x00, NaN 0x80, no infinities, no minus zero
//   f143       1     4        3         8    240
//   f152       1     5        2        16    57344
//   number = what the code says * 2^scale
//
// Codelets have a copy in include/poplar/QuarterFloat.hpp, which can include nothing of the host's; tests compare the two code by code.
#pragma once

#include <cstdint>

namespace pando {

enum class Float8Format : std::uint8_t { f143, f152 };

// What becomes of numbers beyond the greatest, and of infinities.
enum class Float8Overflow : std::uint8_t { greatest, nan };

inline constexpr std::uint8_t kFloat8Nan = 0x80;

// Exact. `scale` is in -32 ... 31.
float float_from_float8(Float8Format format, std::uint8_t code, int scale = 0);
// The nearest number, of two the even code; NaN stays.
std::uint8_t float8_from_double(Float8Format format, double value, Float8Overflow overflow, int scale = 0);
// The least magnitude that rounds beyond the greatest (scale 0): half way to what would come next.
float float8_overflow(Float8Format format);

}  // namespace pando
