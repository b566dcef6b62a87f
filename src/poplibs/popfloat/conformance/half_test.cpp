// Half precision on the host: every code, and the numbers between two codes.
#include <gtest/gtest.h>
#include <popfloat/experimental/CastToHalf.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace oplib {
namespace {

using popfloat::experimental::halfToSingle;
using popfloat::experimental::singleToHalf;

// By the definition: mantissa times a power of two.
double value_of(unsigned code) {
  const int exponent = static_cast<int>(code >> 10), mantissa = static_cast<int>(code & 0x3ff);
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, EveryCodeAndWhatLiesBetween) {
  for (unsigned code = 0; code < 0x7c00; ++code) {
    const float x = static_cast<float>(value_of(code)), next = static_cast<float>(value_of(code + 1)), middle = (x + next) / 2;
    const std::uint16_t even = static_cast<std::uint16_t>(code % 2 ? code + 1 : code), minus = 0x8000;
    ASSERT_EQ(halfToSingle(static_cast<std::uint16_t>(code)), x) << code;
    ASSERT_EQ(halfToSingle(static_cast<std::uint16_t>(code | minus)), -x) << code;
    ASSERT_EQ(singleToHalf(x), code);
    ASSERT_EQ(singleToHalf(-x), code | minus);
    if (code == 0x7bff) break;  // above it: too great
    ASSERT_EQ(singleToHalf(middle), even) << code;
    ASSERT_EQ(singleToHalf(-middle), even | minus) << code;
    ASSERT_EQ(singleToHalf(std::nextafter(middle, x)), code);
    ASSERT_EQ(singleToHalf(std::nextafter(middle, next)), code + 1);
  }
}

TEST(Half, WhatIsTooGreatAndWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(singleToHalf(65519.996f), 0x7bff);
  EXPECT_EQ(singleToHalf(65520), 0x7bff);
  EXPECT_EQ(singleToHalf(-1e9f), 0xfbff);
  EXPECT_EQ(singleToHalf(65519.996f, true), 0x7bff);
  EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(65520, true))));
  EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(-1e9f, true))));
  for (const bool nan_on_overflow : {false, true}) {
    EXPECT_EQ(singleToHalf(infinity, nan_on_overflow), 0x7c00);
    EXPECT_EQ(singleToHalf(-infinity, nan_on_overflow), 0xfc00);
    EXPECT_TRUE(std::isnan(halfToSingle(singleToHalf(nan, nan_on_overflow))));
    EXPECT_EQ(singleToHalf(-nan, nan_on_overflow) >> 15, 1);
  }
  EXPECT_EQ(halfToSingle(0x7c00), infinity);
  for (unsigned code = 0x7c01; code < 0x8000; ++code)
    for (const unsigned sign : {0u, 0x8000u}) {
      const float of_half = halfToSingle(static_cast<std::uint16_t>(code | sign));
      std::uint32_t bits;
      std::memcpy(&bits, &of_half, sizeof bits);
      ASSERT_EQ(bits, sign << 16 | 0x7f800000u | (code & 0x3ff) << 13);
    }
  EXPECT_EQ(halfToSingle(0xfc00), -infinity);
}

}  // namespace
}  // namespace oplib
