#include "graph/convert.h"

#include <cmath>
#include <limits>

#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using testing::bytes_of;
using testing::expect_error;

template <class From, class To>
void converts(ElementType from, std::vector<From> values, ElementType to, std::vector<To> want) {
  EXPECT_EQ(convert_elements(bytes_of(values), from, to, "x"), bytes_of(want));
}

TEST(Convert, ValuesInRange) {
  converts<std::int32_t, std::uint8_t>(ElementType::int_, {0, 255}, ElementType::unsigned_char, {0, 255});
  converts<std::int32_t, std::int8_t>(ElementType::int_, {-128, 127}, ElementType::char_, {-128, 127});
  converts<double, std::int32_t>(ElementType::double_, {-3.0, 7.0}, ElementType::int_, {-3, 7});
  converts<std::int64_t, std::uint64_t>(ElementType::long_long, {5}, ElementType::unsigned_long_long, {5});
  converts<std::uint64_t, float>(ElementType::unsigned_long_long, {std::numeric_limits<std::uint64_t>::max()}, ElementType::float_,
                                 {0x1p64f});
  converts<float, std::uint16_t>(ElementType::float_, {65504.0f, 0.1f}, ElementType::half, {0x7bff, half_from_float(0.1f)});
  // Rounded once: through float this double is a tie, through double this integer is.
  converts<double, std::uint16_t>(ElementType::double_, {1 + 0x1p-11 + 0x1p-40, 65519.999}, ElementType::half, {0x3c01, 0x7bff});
  converts<std::int64_t, float>(ElementType::long_long, {(1ll << 62) + (1ll << 38) + 1}, ElementType::float_, {0x1.000002p62f});
  converts<std::int32_t, std::uint8_t>(ElementType::int_, {-4, 0}, ElementType::boolean, {1, 0});
  converts<std::uint8_t, float>(ElementType::boolean, {1, 0}, ElementType::float_, {1, 0});
  converts<double, float>(ElementType::double_, {std::numeric_limits<double>::infinity()}, ElementType::float_,
                          {std::numeric_limits<float>::infinity()});
  converts<std::uint32_t, std::int32_t>(ElementType::unsigned_int, {4294967293u, 3}, ElementType::int_, {-3, 3});
  converts<std::uint64_t, std::int64_t>(ElementType::unsigned_long_long, {1ull << 63}, ElementType::long_long,
                                        {std::numeric_limits<std::int64_t>::min()});
  converts<std::uint8_t, std::uint8_t>(ElementType::quarter, {0x3c}, ElementType::quarter, {0x3c});
}

void rejects(ElementType from, const std::string& bytes, ElementType to, const char* text) {
  expect_error<poplar::overflow_error>([&] { convert_elements(bytes, from, to, "Vertex.field"); }, text);
}

TEST(Convert, ValuesOutOfRange) {
  rejects(ElementType::int_, bytes_of<std::int32_t>({256}), ElementType::unsigned_char,
          "Vertex.field: 256 is out of the range of unsigned char");
  rejects(ElementType::int_, bytes_of<std::int32_t>({-129}), ElementType::char_, "-129");
  rejects(ElementType::int_, bytes_of<std::int32_t>({-1}), ElementType::unsigned_long_long, "-1");
  rejects(ElementType::unsigned_int, bytes_of<std::uint32_t>({40000}), ElementType::short_, "40000");
  rejects(ElementType::float_, bytes_of<float>({0x1p64f}), ElementType::unsigned_long_long, "out of the range");
  rejects(ElementType::float_, bytes_of<float>({std::nanf("")}), ElementType::int_, "nan");
  rejects(ElementType::double_, bytes_of<double>({1e300}), ElementType::float_, "1e+300 is out of the range of float");
  rejects(ElementType::int_, bytes_of<std::int32_t>({65536}), ElementType::half, "65536 is out of the range of half");
}

TEST(Convert, NegativeByBits) {
  const auto by_bits = [](std::vector<std::int32_t> values, ElementType to) {
    return convert_elements(bytes_of(values), ElementType::int_, to, "x", Negative::bits);
  };
  EXPECT_EQ(by_bits({-2, 40000, -32768}, ElementType::unsigned_short), bytes_of<std::uint16_t>({65534, 40000, 32768}));
  EXPECT_EQ(by_bits({-1}, ElementType::unsigned_int), bytes_of<std::uint32_t>({0xffffffffu}));
  EXPECT_EQ(by_bits({-1}, ElementType::unsigned_long_long), bytes_of<std::uint64_t>({~std::uint64_t{0}}));
  EXPECT_EQ(by_bits({-1}, ElementType::float_), bytes_of<float>({-1}));
  EXPECT_EQ(by_bits({-1}, ElementType::boolean), bytes_of<std::uint8_t>({1}));
  expect_error<poplar::overflow_error>([&] { by_bits({-32769}, ElementType::unsigned_short); },
                                       "-32769 is out of the range of unsigned short");
  expect_error<poplar::overflow_error>([&] { by_bits({65536}, ElementType::unsigned_short); }, "65536 is out");
}

TEST(Convert, NoConversion) {
  expect_error<poplar::type_error>([] { convert_elements(bytes_of<float>({1.5f}), ElementType::float_, ElementType::int_, "x"); },
                                   "1.5 is not a value of type int");
  expect_error<poplar::type_error>([] { convert_elements(bytes_of<float>({1}), ElementType::float_, ElementType::quarter, "x"); },
                                   "no conversion from float to quarter");
}

}  // namespace
}  // namespace pando::graph
