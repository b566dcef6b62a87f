// Rounding to formats of 16 bits and less, in integers: no setting of the host's floating-point unit changes a code.
#pragma once

#include <bit>
#include <cstdint>

namespace pando {

// The code of the number nearest to `magnitude` (finite, not negative), a tie to the even code, in a format of `mantissa` explicit bits
// whose exponents are biased by `bias` and where exponent 0 holds zero and the subnormals. Codes follow each other as their values do,
// without an end: what is too great for the format gets a code beyond its greatest. One rounding, whatever the double came from.
inline std::uint32_t nearest_code(double magnitude, int mantissa, int bias) {
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const int biased = static_cast<int>(bits >> 52);
  if (biased == 0) return 0;  // a subnormal double is far below half of any of these formats' least
  const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const int exponent = biased - 1023 + bias;
  const int dropped = 52 - mantissa + (exponent < 1 ? 1 - exponent : 0);
  if (dropped > 53) return 0;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1), half = std::uint64_t{1} << (dropped - 1);
  std::uint64_t units = significand >> dropped;
  units += rest > half || (rest == half && units % 2 == 1);
  // A carry out of the mantissa goes to the next exponent by itself.
  if (exponent >= 1) units += static_cast<std::uint64_t>(exponent - 1) << mantissa;
  return static_cast<std::uint32_t>(units);
}

}  // namespace pando
