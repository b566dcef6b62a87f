// Codes of 8 and 16 bits, all of them, and conversions between all types, against checkers that know only definitions: what a code says by
// its fields, the nearest of all numbers by looking at them, integers in 128 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/values/convert.h"
#include "base/values/element_text.h"
#include "base/values/format_tensor.h"
#include "base/values/half.h"

namespace pando {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A format's numbers that are not negative, in the order of their codes; behind the greatest what would come next.
std::vector<double> numbers_of(int codes, int mantissa, int bias, int scale) {
  std::vector<double> all;
  for (int code = 0; code <= codes; ++code) {
    const int exponent = code >> mantissa;
    const double fraction = (code & ((1 << mantissa) - 1)) * std::pow(2.0, -mantissa);
    const double number = exponent == 0 ? fraction * std::pow(2.0, 1 - bias) : (1 + fraction) * std::pow(2.0, exponent - bias);
    all.push_back(number * std::pow(2.0, scale));
  }
  return all;
}

// The position of the nearest, by looking at all of them; of two the even one. Differences of these magnitudes are exact in long double.
std::size_t nearest(const std::vector<double>& numbers, double magnitude) {
  std::size_t best = 0;
  const auto distance = [&](std::size_t i) { return std::fabs(static_cast<long double>(numbers[i]) - magnitude); };
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (distance(i) < distance(best) || (distance(i) == distance(best) && i % 2 == 0)) best = i;
  }
  return best;
}

// What matters around each number: itself, the middle to the next, and the doubles and floats beside both.
std::vector<double> places_to_round(const std::vector<double>& numbers) {
  std::vector<double> all = {0x1p-1074, std::numeric_limits<double>::min(), 0x1p-149, std::numeric_limits<double>::max()};
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    for (const double v : {numbers[i], (numbers[i] + numbers[i + 1]) / 2}) {
      all.insert(all.end(), {v, std::nextafter(v, kInfinity), static_cast<double>(std::nextafter(static_cast<float>(v), HUGE_VALF))});
      if (v > 0) all.insert(all.end(), {std::nextafter(v, 0), static_cast<double>(std::nextafter(static_cast<float>(v), 0.0f))});
    }
  }
  return all;
}

TEST(Half, EveryCodeIsWhatItsFieldsSay) {
  const std::vector<double> numbers = numbers_of(0x7c00, 10, 15, 0);
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const std::uint32_t magnitude = code & 0x7fff;
    const double sign = code & 0x8000 ? -1 : 1, value = float_from_half(bits);
    ASSERT_EQ(std::signbit(value), sign < 0) << code;
    if (magnitude > 0x7c00) {
      ASSERT_TRUE(std::isnan(value)) << code;
      // Quiet, with the payload kept.
      ASSERT_EQ(half_from_float(float_from_half(bits)), bits | 0x200) << code;
      ASSERT_EQ(half_from_double(value) & 0x7e00, 0x7e00) << code;
      continue;
    }
    ASSERT_EQ(value, sign * (magnitude == 0x7c00 ? kInfinity : numbers[magnitude])) << code;
    ASSERT_EQ(half_from_float(static_cast<float>(value)), bits);
    ASSERT_EQ(half_from_double(value), bits);
  }
}

// The same for halfs, of which there are many: between the two that a number lies between.
std::uint16_t nearest_half(const std::vector<double>& numbers, double magnitude) {
  if (magnitude >= numbers.back()) return 0x7c00;
  const auto above = static_cast<std::size_t>(std::upper_bound(numbers.begin(), numbers.end(), magnitude) - numbers.begin());
  const std::size_t even = above % 2 == 0 ? above : above - 1, odd = above % 2 == 0 ? above - 1 : above;
  return static_cast<std::uint16_t>(nearest({numbers[even], numbers[odd]}, magnitude) == 0 ? even : odd);
}

TEST(Half, RoundsToNearestOnce) {
  const std::vector<double> numbers = numbers_of(0x7c00, 10, 15, 0);
  const auto expected = [&](double magnitude) { return nearest_half(numbers, magnitude); };
  for (const double v : places_to_round(numbers)) {
    const std::uint16_t code = expected(v);
    ASSERT_EQ(half_from_double(v), code) << v;
    ASSERT_EQ(half_from_double(-v), code | 0x8000) << v;
    const float narrow = static_cast<float>(v);
    ASSERT_EQ(half_from_float(narrow), std::isinf(narrow) ? 0x7c00 : expected(narrow)) << v;
  }
  EXPECT_EQ(half_from_double(65519.999999), 0x7bff);
  EXPECT_EQ(half_from_double(65520), 0x7c00);
  EXPECT_EQ(half_from_double(-kInfinity), 0xfc00);
}

struct Format {
  Float8Format format;
  int mantissa, bias;
  float greatest;
};
constexpr Format kFormats[] = {{Float8Format::f143, 3, 8, 240}, {Float8Format::f152, 2, 16, 57344}};

TEST(Float8, EveryCodeIsWhatItsFieldsSay) {
  for (const Format& f : kFormats) {
    for (int scale = -32; scale <= 31; ++scale) {
      const std::vector<double> numbers = numbers_of(0x80, f.mantissa, f.bias, scale);
      EXPECT_EQ(numbers[0x7f], f.greatest * std::pow(2.0, scale));
      for (int code = 0; code < 256; ++code) {
        const float value = float_from_float8(f.format, static_cast<std::uint8_t>(code), scale);
        if (code == 0x80) {
          ASSERT_TRUE(std::isnan(value));
        } else {
          ASSERT_EQ(value, code & 0x80 ? -numbers[code & 0x7f] : numbers[code]) << code << " scale " << scale;
        }
        for (const Float8Overflow o : {Float8Overflow::greatest, Float8Overflow::nan}) {
          ASSERT_EQ(float8_from_double(f.format, value, o, scale), code) << scale;
        }
      }
    }
  }
}

TEST(Float8, RoundsToNearestAndOverflows) {
  for (const Format& f : kFormats) {
    for (const int scale : {-32, -5, 0, 1, 31}) {
      const std::vector<double> numbers = numbers_of(0x80, f.mantissa, f.bias, scale);
      std::vector<double> places = places_to_round(numbers);
      places.insert(places.end(), {kInfinity, 1e9 * numbers.back()});
      for (const double v : places) {
        const std::size_t code = std::isinf(v) ? 0x80 : nearest(numbers, v);
        for (const double sign : {1.0, -1.0}) {
          const std::size_t with_sign = sign < 0 && code > 0 ? code | 0x80 : code;
          const bool over = code == 0x80;
          ASSERT_EQ(float8_from_double(f.format, sign * v, Float8Overflow::nan, scale), over ? kFloat8Nan : with_sign) << v << ' ' << scale;
          ASSERT_EQ(float8_from_double(f.format, sign * v, Float8Overflow::greatest, scale), over ? (sign < 0 ? 0xff : 0x7f) : with_sign)
              << v << ' ' << scale;
        }
      }
      EXPECT_EQ(float8_from_double(f.format, kNan, Float8Overflow::greatest, scale), kFloat8Nan);
    }
    const float limit = float8_overflow(f.format);
    EXPECT_EQ(float8_from_double(f.format, limit, Float8Overflow::nan), kFloat8Nan);
    EXPECT_EQ(float8_from_double(f.format, std::nextafter(limit, 0.0f), Float8Overflow::nan), 0x7f);
  }
}

// --- conversions: a number of any type in 64 bits of significand, a bool as 0 or 1

using ET = ElementType;
constexpr ET kInteger[] = {ET::boolean,         ET::char_,          ET::signed_char, ET::unsigned_char,
                           ET::short_,          ET::unsigned_short, ET::int_,        ET::unsigned_int,
                           ET::long_,           ET::unsigned_long,  ET::long_long,   ET::unsigned_long_long,
                           ET::quarter_metadata};
constexpr ET kFloating[] = {ET::half, ET::float_, ET::double_};

bool is_whole(ET t) { return t != ET::half && t != ET::float_ && t != ET::double_; }
bool has_sign(ET t) { return is_whole(t) && t != ET::boolean && t != ET::quarter_metadata && is_signed(t); }

long double number_at(ET t, const std::string& bytes) {
  if (t == ET::boolean) return bytes[0] != 0;
  if (t == ET::half) return float_from_half(std::bit_cast<std::uint16_t>(std::array<char, 2>{bytes[0], bytes[1]}));
  if (t == ET::float_) {
    float f;
    std::memcpy(&f, bytes.data(), 4);
    return f;
  }
  if (t == ET::double_) {
    double d;
    std::memcpy(&d, bytes.data(), 8);
    return d;
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  const int unused = 64 - 8 * static_cast<int>(bytes.size());
  if (has_sign(t)) return static_cast<std::int64_t>(bits << unused) >> unused;
  return bits;
}

// The number in the type's bytes, by the rules: one rounding, saturation from floats, low bits from integers.
std::string expected_bytes(ET from, long double v, ET to) {
  if (to == ET::boolean) return std::string(1, v != 0);
  const auto bytes = [&](auto x) { return std::string(reinterpret_cast<const char*>(&x), size_of(to)); };
  if (to == ET::float_) return bytes(static_cast<float>(v));
  if (to == ET::double_) return bytes(static_cast<double>(v));
  if (to == ET::half) {
    static const std::vector<double> numbers = numbers_of(0x7c00, 10, 15, 0);
    const std::uint16_t code = std::isinf(v) ? 0x7c00 : nearest_half(numbers, static_cast<double>(std::fabs(v)));
    return bytes(static_cast<std::uint16_t>(code | (std::signbit(v) ? 0x8000 : 0)));
  }
  if (std::isnan(v)) return std::string(size_of(to), '\0');
  const int bits = 8 * static_cast<int>(size_of(to));
  if (!is_whole(from)) {
    const long double least = has_sign(to) ? -std::ldexp(1.0L, bits - 1) : 0, most = std::ldexp(1.0L, has_sign(to) ? bits - 1 : bits) - 1;
    v = std::min(std::max(std::trunc(v), least), most);
  }
  return bytes(static_cast<std::uint64_t>(static_cast<__int128>(v)));
}

// Bytes of interesting numbers of a type.
std::vector<std::string> interesting(ET t) {
  std::vector<std::string> all;
  const auto add = [&](auto x) { all.emplace_back(reinterpret_cast<const char*>(&x), size_of(t)); };
  if (t == ET::half) {
    for (const int code : {0, 1, 0x3ff, 0x400, 0x3800, 0x3c00, 0x3e00, 0x5bf8, 0x5c00, 0x7800, 0x7bff, 0x7c00, 0x7e00})
      for (const int sign : {0, 0x8000}) add(static_cast<std::uint16_t>(code | sign));
    return all;
  }
  if (t == ET::boolean) return {std::string(1, '\0'), "\1", "\2", "\xff"};
  if (is_whole(t)) {
    for (int bit = 0; bit < 8 * static_cast<int>(size_of(t)); ++bit)
      for (const std::int64_t beside : {-1, 0, 1})
        for (const std::int64_t sign : {1, -1})
          add(static_cast<std::uint64_t>(sign) * ((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(beside)));
    // Halfway between floats but for the last bit: through double they would be rounded twice.
    if (size_of(t) == 8) add((std::uint64_t{1} << 62) + (std::uint64_t{1} << 38) + 1);
    return all;
  }
  std::vector<double> numbers = {0, 0.5, 0.999, 1.5, 2.5, 1e-40, 1e-300, 65519.99, 65520, 3.4028235677973366e38, 1e300, kInfinity, kNan};
  numbers.push_back(1 + 0x1p-11 + 0x1p-40);  // a tie of halfs but for what a float cannot hold
  for (int bit = 0; bit < 66; ++bit)
    for (const double factor : {1.0, 1 - 0x1p-24, 1 - 0x1p-53, 1 + 0x1p-23}) numbers.push_back(std::ldexp(factor, bit));
  for (const double v : numbers)
    for (const double sign : {1.0, -1.0}) {
      if (t == ET::float_) add(static_cast<float>(sign * v));
      if (t == ET::double_) add(sign * v);
    }
  return all;
}

std::string converted(ET from, const std::string& bytes, ET to) {
  std::string out(size_of(to), '\x55');
  convert_values({from}, bytes.data(), {to}, out.data(), 1);
  return out;
}

TEST(ConvertValues, EveryPairOfTypes) {
  std::vector<ET> types(std::begin(kInteger), std::end(kInteger));
  types.insert(types.end(), std::begin(kFloating), std::end(kFloating));
  for (const ET from : types) {
    for (const std::string& bytes : interesting(from)) {
      const long double v = number_at(from, bytes);
      for (const ET to : types) {
        const std::string got = converted(from, bytes, to);
        if (from == to) {
          ASSERT_EQ(got, bytes);
        } else if (!is_whole(to) && std::isnan(v)) {
          ASSERT_TRUE(std::isnan(number_at(to, got)));
        } else {
          ASSERT_EQ(got, expected_bytes(from, v, to)) << name_of(from) << ' ' << element_text(from, bytes.data()) << " to " << name_of(to);
        }
      }
    }
  }
}

TEST(ConvertValues, LossIsWhatDoesNotComeBack) {
  for (const ET from : {ET::int_, ET::unsigned_long_long, ET::short_, ET::half, ET::float_, ET::double_}) {
    for (const std::string& bytes : interesting(from)) {
      const long double v = number_at(from, bytes);
      for (const ET to : {ET::signed_char, ET::unsigned_short, ET::int_, ET::unsigned_int, ET::long_long, ET::unsigned_long_long}) {
        const int bits = 8 * static_cast<int>(size_of(to));
        const bool inside = v >= (has_sign(to) ? -std::ldexp(1.0L, bits - 1) : 0) && v < std::ldexp(1.0L, has_sign(to) ? bits - 1 : bits);
        const bool whole = !std::isfinite(v) || v == std::trunc(v);
        const Loss expected = !whole ? Loss::fraction : inside ? Loss::none : Loss::range;
        ASSERT_EQ(loss_of(from, bytes.data(), to), expected) << element_text(from, bytes.data()) << " to " << name_of(to);
      }
      for (const ET to : {ET::half, ET::float_, ET::double_}) {
        const bool becomes_infinite = std::isfinite(v) && !std::isfinite(number_at(to, converted(from, bytes, to)));
        ASSERT_EQ(loss_of(from, bytes.data(), to), becomes_infinite ? Loss::range : Loss::none) << name_of(from) << name_of(to);
      }
      ASSERT_EQ(loss_of(from, bytes.data(), ET::boolean), Loss::none);
    }
  }
}

TEST(ConvertValues, Quarters) {
  const ValueForm f143{ET::quarter, Float8Format::f143, 0, Float8Overflow::nan}, scaled{ET::quarter, Float8Format::f143, 3},
      f152{ET::quarter, Float8Format::f152};
  for (int i = 0; i < 256; ++i) {
    const auto code = static_cast<std::uint8_t>(i);
    const float value = float_from_float8(Float8Format::f143, code);
    float to_float;
    std::uint8_t same, other, narrow;
    std::int16_t whole;
    convert_values(f143, &code, {ET::float_}, &to_float, 1);
    convert_values(f143, &code, f143, &same, 1);
    convert_values(f143, &code, scaled, &other, 1);
    convert_values(f143, &code, f152, &narrow, 1);
    convert_values(f143, &code, {ET::short_}, &whole, 1);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(to_float), std::bit_cast<std::uint32_t>(value));
    EXPECT_EQ(same, code);
    EXPECT_EQ(other, float8_from_double(Float8Format::f143, value, Float8Overflow::greatest, 3));
    EXPECT_EQ(narrow, float8_from_double(Float8Format::f152, value, Float8Overflow::greatest));
    EXPECT_EQ(whole, std::isnan(value) ? 0 : static_cast<int>(value));
  }
  const std::int64_t huge = std::int64_t{1} << 60;
  std::uint8_t code = 0;
  convert_values({ET::long_long}, &huge, f143, &code, 1);
  EXPECT_EQ(code, kFloat8Nan);
  convert_values({ET::long_long}, &huge, f152, &code, 1);
  EXPECT_EQ(code, 0x7f);
}

TEST(ElementText, EachType) {
  const auto text = [](ET t, auto v) { return element_text(t, &v); };
  EXPECT_EQ(text(ET::boolean, std::uint8_t{2}), "true");
  EXPECT_EQ(text(ET::boolean, std::uint8_t{0}), "false");
  EXPECT_EQ(text(ET::char_, std::int8_t{-65}), "-65");
  EXPECT_EQ(text(ET::unsigned_char, std::uint8_t{200}), "200");
  EXPECT_EQ(text(ET::quarter, std::uint8_t{0xff}), "255");
  EXPECT_EQ(text(ET::quarter_metadata, std::uint8_t{0x80}), "128");
  EXPECT_EQ(text(ET::short_, std::int16_t{-300}), "-300");
  EXPECT_EQ(text(ET::unsigned_short, std::uint16_t{65535}), "65535");
  EXPECT_EQ(text(ET::int_, -7), "-7");
  EXPECT_EQ(text(ET::unsigned_int, 4294967295u), "4294967295");
  EXPECT_EQ(text(ET::long_long, std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text(ET::unsigned_long, std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text(ET::half, std::uint16_t{0x2e66}), "0.099975586");
  EXPECT_EQ(text(ET::float_, 0.1f), "0.1");
  EXPECT_EQ(text(ET::double_, 0.1), "0.1");
  // In a tensor bools are numbers, so that columns line up; quarters are codes there, too.
  EXPECT_EQ(format_tensor("\1\0\1", ET::boolean, {3}, {}), "[1 0 1]");
  EXPECT_EQ(format_tensor("\x7f\xff", ET::quarter, {2}, {}), "[127 255]");
}

}  // namespace
}  // namespace pando
