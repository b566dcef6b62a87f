// The functions against the C library in double: half for every value there is, float on a dense sample of all magnitudes and on
// special values; integers against plain arithmetic in 128 bits.
#include "kernels/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace pando::kernels;

struct Function {
  Unary op;
  const char* name;
  double (*of)(double);
  bool exact;         // correctly rounded; others: within one unit in the last place of half
  double float_ulps;  // in float
};

double sign(double x) { return (x > 0) - (x < 0); }

double gelu_gate(double x) { return 1 / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

const Function kFunctions[] = {
    {Unary::absolute, "absolute", [](double x) { return std::fabs(x); }, true, 0.5},
    {Unary::asin, "asin", [](double x) { return std::asin(x); }, false, 3},
    {Unary::cbrt, "cbrt", [](double x) { return std::cbrt(x); }, false, 1},
    {Unary::ceil, "ceil", [](double x) { return std::ceil(x); }, true, 0.5},
    {Unary::cos, "cos", [](double x) { return std::cos(x); }, false, 1},
    {Unary::erf, "erf", [](double x) { return std::erf(x); }, false, 3},
    {Unary::exp, "exp", [](double x) { return std::exp(x); }, false, 2},
    {Unary::expm1, "expm1", [](double x) { return std::expm1(x); }, false, 1},
    {Unary::exp2, "exp2", [](double x) { return std::exp2(x); }, false, 1},
    {Unary::floor, "floor", [](double x) { return std::floor(x); }, true, 0.5},
    {Unary::gelu_erf, "gelu_erf", [](double x) { return std::isinf(x) && x < 0 ? -0.0 : 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, false,
     4},
    // Far below 0 the exponent's rounding counts as often as it is large.
    {Unary::gelu, "gelu", [](double x) { return std::isinf(x) && x < 0 ? -0.0 : x * gelu_gate(x); }, false, 150},
    {Unary::inverse, "inverse", [](double x) { return 1 / x; }, true, 0.5},
    {Unary::log, "log", [](double x) { return std::log(x); }, false, 2},
    {Unary::log1p, "log1p", [](double x) { return std::log1p(x); }, false, 1},
    {Unary::negate, "negate", [](double x) { return -x; }, true, 0.5},
    {Unary::nearby_int, "nearby_int", [](double x) { return std::nearbyint(x); }, true, 0.5},
    {Unary::relu, "relu", [](double x) { return x < 0 ? 0 : x; }, true, 0.5},
    {Unary::signum, "signum", sign, true, 0.5},
    {Unary::sin, "sin", [](double x) { return std::sin(x); }, false, 1},
    {Unary::tan, "tan", [](double x) { return std::tan(x); }, false, 1},
    {Unary::tanh, "tanh", [](double x) { return std::tanh(x); }, false, 3},
    {Unary::round, "round", [](double x) { return std::round(x); }, true, 0.5},
    {Unary::sqrt, "sqrt", [](double x) { return std::sqrt(x); }, true, 0.5},
    {Unary::square, "square", [](double x) { return x * x; }, true, 0.5},
    {Unary::sigmoid, "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, false, 3},
    {Unary::rsqrt, "rsqrt", [](double x) { return 1 / std::sqrt(x); }, false, 1.5},
    {Unary::trunc, "trunc", [](double x) { return std::trunc(x); }, true, 0.5},
};

// Position in the order of all half values.
int rank_of(_Float16 h) {
  std::int16_t bits;
  std::memcpy(&bits, &h, 2);
  return bits < 0 ? -(bits & 0x7fff) : bits;
}

std::vector<_Float16> all_halves() {
  std::vector<_Float16> out(65536);
  for (unsigned i = 0; i < 65536; ++i) {
    const std::uint16_t bits = static_cast<std::uint16_t>(i);
    std::memcpy(&out[i], &bits, 2);
  }
  return out;
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || (a == b && (a != 0 || std::signbit(a) == std::signbit(b))); }

TEST(ElementwiseKernels, EveryHalfValue) {
  const std::vector<_Float16> x = all_halves();
  std::vector<_Float16> y(x.size());
  for (const Function& f : kFunctions) {
    pando_unary(f.op, Type::f16, x.data(), y.data(), x.size());
    unsigned wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const _Float16 expected = static_cast<_Float16>(f.of(static_cast<double>(x[i])));
      const double a = static_cast<double>(y[i]), e = static_cast<double>(expected);
      if (same(a, e) || (!f.exact && !std::isnan(a) && !std::isnan(e) && std::abs(rank_of(y[i]) - rank_of(expected)) <= 1)) continue;
      if (++wrong <= 3) ADD_FAILURE() << f.name << '(' << static_cast<double>(x[i]) << ") is " << a << ", not " << e;
    }
    EXPECT_EQ(wrong, 0u) << f.name;
  }
}

TEST(ElementwiseKernels, EveryHalfValueIsTested) {
  const std::vector<_Float16> x = all_halves();
  std::vector<std::uint8_t> y(x.size());
  const auto check = [&](Unary op, bool (*of)(double)) {
    pando_unary(op, Type::f16, x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i] != 0, of(static_cast<double>(x[i]))) << static_cast<double>(x[i]);
  };
  check(Unary::is_finite, [](double v) { return std::isfinite(v); });
  check(Unary::is_inf, [](double v) { return std::isinf(v); });
  check(Unary::is_nan, [](double v) { return std::isnan(v); });
}

// Every 40,007th float of all, and values where functions change their mind.
std::vector<float> floats() {
  std::vector<float> out;
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); i += 40007) {
    const std::uint32_t bits = static_cast<std::uint32_t>(i);
    float f;
    std::memcpy(&f, &bits, 4);
    out.push_back(f);
  }
  for (double v = -120; v < 120; v += 0.0137) out.push_back(static_cast<float>(v));
  for (double v = -2; v < 2; v += 0.00037) out.push_back(static_cast<float>(v));
  const float inf = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
  for (const float v : {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        0.5f,
                        -0.5f,
                        1.5f,
                        2.5f,
                        -2.5f,
                        0.49999997f,
                        8388607.5f,
                        8388609.0f,
                        inf,
                        -inf,
                        tiny,
                        -tiny,
                        0x1p-126f,
                        std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::lowest(),
                        88.72283f,
                        88.73f,
                        -87.33f,
                        -103.97f,
                        -104.5f,
                        1e6f,
                        1.0001e6f,
                        3e9f,
                        1e30f,
                        std::numeric_limits<float>::quiet_NaN()})
    out.push_back(v);
  return out;
}

double ulps(float a, double e) {
  const float rounded = static_cast<float>(e);
  if (same(static_cast<double>(a), static_cast<double>(rounded))) return 0;
  if (std::isnan(a) || std::isnan(e) || std::isinf(a) || std::isinf(rounded)) return 1e9;
  const double unit = std::max(static_cast<double>(std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity())) -
                                   std::fabs(static_cast<double>(rounded)),
                               0x1p-149);
  return std::fabs(static_cast<double>(a) - e) / unit;
}

TEST(ElementwiseKernels, FloatsOfAllMagnitudes) {
  const std::vector<float> x = floats();
  std::vector<float> y(x.size());
  for (const Function& f : kFunctions) {
    pando_unary(f.op, Type::f32, x.data(), y.data(), x.size());
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double u = ulps(y[i], f.of(static_cast<double>(x[i])));
      if (u > worst) worst = u, at = i;
    }
    EXPECT_LE(worst, f.float_ulps) << f.name << '(' << x[at] << ") is " << y[at] << ", not " << f.of(static_cast<double>(x[at]));
  }
}

TEST(ElementwiseKernels, SlopesOfGelu) {
  const std::vector<float> x = floats();
  std::vector<float> y(x.size());
  pando_unary(Unary::gelu_slope, Type::f32, x.data(), y.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(x[i]), s = gelu_gate(a), inner = 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * a * a);
    const double expected = std::isnan(a) ? a : a > 20 ? 1 : a < -20 ? 0 : s * (1 + a * (1 - s) * inner);
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(y[i]));
    else
      ASSERT_NEAR(static_cast<double>(y[i]), expected, 2e-6) << a;
  }
}

TEST(ElementwiseKernels, FloatFunctionsOfTwo) {
  std::vector<float> a, b;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f,   -0.0f, 1.0f,   -1.0f, 2.0f, -3.0f, 0.5f, -0.5f, 2.5f,
                           1e-40f, 1e10f, -1e10f, 3e38f, inf,  -inf,  nan,  7.0f,  1e-10f};
  for (const float x : special)
    for (const float y : special) a.push_back(x), b.push_back(y);
  for (int i = 0; i < 40000; ++i) {
    a.push_back(static_cast<float>(std::sin(i * 12.9898) * std::exp2((i * 7) % 40 - 20)));
    b.push_back(static_cast<float>(std::sin(i * 78.233) * std::exp2((i * 3) % 12 - 6)));
  }
  const struct {
    Binary op;
    const char* name;
    double (*of)(double, double);
    double tolerance;
  } functions[] = {
      {Binary::add, "add", [](double x, double y) { return x + y; }, 0.5},
      {Binary::subtract, "subtract", [](double x, double y) { return x - y; }, 0.5},
      {Binary::multiply, "multiply", [](double x, double y) { return x * y; }, 0.5},
      {Binary::divide, "divide", [](double x, double y) { return x / y; }, 0.5001},
      {Binary::power, "power", [](double x, double y) { return std::pow(x, y); }, 1},
      {Binary::remainder, "remainder", [](double x, double y) { return std::fmod(x, y); }, 0.5},
      {Binary::atan2, "atan2", [](double x, double y) { return std::atan2(x, y); }, 1},
      {Binary::maximum, "maximum", [](double x, double y) { return std::isnan(x) || x > y ? x : y; }, 0.5},
      {Binary::minimum, "minimum", [](double x, double y) { return std::isnan(x) || x < y ? x : y; }, 0.5},
  };
  std::vector<float> out(a.size());
  for (const auto& f : functions) {
    pando_binary(f.op, Type::f32, a.data(), b.data(), out.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE(ulps(out[i], f.of(static_cast<double>(a[i]), static_cast<double>(b[i]))), f.tolerance)
          << f.name << '(' << a[i] << ", " << b[i] << ") is " << out[i] << ", not "
          << f.of(static_cast<double>(a[i]), static_cast<double>(b[i]));
  }
}

// Every pair of corner values and some others, against arithmetic in 128 bits.
template <class T>
void check_integers(Type type) {
  using Limits = std::numeric_limits<T>;
  constexpr int kBits = 8 * sizeof(T);
  std::vector<T> values = {Limits::min(),
                           static_cast<T>(Limits::min() + 1),
                           Limits::max(),
                           static_cast<T>(Limits::max() - 1),
                           0,
                           1,
                           2,
                           3,
                           7,
                           8,
                           100,
                           static_cast<T>(-1),
                           static_cast<T>(-2),
                           static_cast<T>(-7),
                           kBits - 1,
                           kBits};
  std::vector<T> a, b;
  for (const T x : values)
    for (const T y : values) a.push_back(x), b.push_back(y);
  std::vector<T> out(a.size());
  const auto wrapped = [](__int128 v) { return static_cast<T>(v); };
  const auto check = [&](Binary op, auto of) {
    pando_binary(op, type, a.data(), b.data(), out.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_EQ(out[i], wrapped(of(static_cast<__int128>(a[i]), static_cast<__int128>(b[i]))))
          << static_cast<unsigned>(op) << ' ' << +a[i] << ' ' << +b[i];
  };
  using I = __int128;
  const auto count = [](I y) { return y < 0 || y >= kBits ? kBits : static_cast<int>(y); };
  const I mask = (I{1} << kBits) - 1;
  check(Binary::add, [](I x, I y) { return x + y; });
  check(Binary::subtract, [](I x, I y) { return x - y; });
  check(Binary::multiply, [](I x, I y) { return static_cast<I>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y)); });
  check(Binary::divide, [](I x, I y) { return y == 0 ? I{0} : x / y; });
  check(Binary::remainder, [](I x, I y) { return y == 0 ? x : x % y; });
  check(Binary::maximum, [](I x, I y) { return x > y ? x : y; });
  check(Binary::minimum, [](I x, I y) { return x < y ? x : y; });
  check(Binary::bitwise_xnor, [](I x, I y) { return ~(x ^ y); });
  check(Binary::shift_left,
        [&](I x, I y) { return count(y) == kBits ? I{0} : static_cast<I>(static_cast<unsigned __int128>(x) << count(y)); });
  check(Binary::shift_right, [&](I x, I y) { return count(y) == kBits ? I{0} : (x & mask) >> count(y); });
  check(Binary::shift_right_sign_extend, [&](I x, I y) {
    const I s = static_cast<I>(static_cast<std::make_signed_t<T>>(static_cast<T>(x)));
    return s >> (count(y) == kBits ? kBits - 1 : count(y));
  });
  check(Binary::power, [](I x, I y) {
    if (y < 0) return x == 1 ? I{1} : x == -1 ? (y % 2 != 0 ? I{-1} : I{1}) : I{0};
    unsigned __int128 p = 1, base = static_cast<unsigned __int128>(x);
    for (auto left = static_cast<unsigned __int128>(y); left != 0; left >>= 1, base *= base)
      if ((left & 1) != 0) p *= base;
    return static_cast<I>(p);
  });
  out.resize(values.size());
  pando_unary(Unary::count_leading_zeros, type, values.data(), out.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    int zeros = 0;
    while (zeros < kBits && ((static_cast<I>(values[i]) & mask) >> (kBits - 1 - zeros)) == 0) ++zeros;
    EXPECT_EQ(static_cast<int>(out[i]), zeros);
  }
  pando_unary(Unary::sqrt, type, values.data(), out.data(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const I r = out[i], x = values[i] < 0 ? I{0} : static_cast<I>(values[i]);
    EXPECT_TRUE(r * r <= x && x < (r + 1) * (r + 1)) << +values[i];
  }
}

TEST(ElementwiseKernels, IntegersWrapAndNeverTrap) {
  check_integers<std::int8_t>(Type::i8);
  check_integers<std::uint8_t>(Type::u8);
  check_integers<std::int16_t>(Type::i16);
  check_integers<std::uint16_t>(Type::u16);
  check_integers<std::int32_t>(Type::i32);
  check_integers<std::uint32_t>(Type::u32);
  check_integers<std::int64_t>(Type::i64);
  check_integers<std::uint64_t>(Type::u64);
}

TEST(ElementwiseKernels, ConversionsSaturate) {
  const std::vector<float> x = {0.0f,
                                1.9f,
                                -1.9f,
                                127.5f,
                                128.0f,
                                300.0f,
                                -129.0f,
                                70000.0f,
                                -3e9f,
                                3e9f,
                                2147483520.0f,
                                2147483648.0f,
                                5e9f,
                                1e20f,
                                -1e20f,
                                std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::quiet_NaN()};
  const auto check = [&](auto none, Type to) {
    using T = decltype(none);
    std::vector<T> out(x.size());
    pando_convert(Type::f32, to, x.data(), out.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double v = std::trunc(static_cast<long double>(x[i])), low = std::numeric_limits<T>::min(),
                        high = std::numeric_limits<T>::max();
      const T expected = std::isnan(x[i]) ? T{0}
                         : v < low        ? std::numeric_limits<T>::min()
                         : v > high       ? std::numeric_limits<T>::max()
                                          : static_cast<T>(v);
      EXPECT_EQ(out[i], expected) << x[i];
    }
  };
  check(std::int8_t{}, Type::i8);
  check(std::uint8_t{}, Type::u8);
  check(std::int16_t{}, Type::i16);
  check(std::int32_t{}, Type::i32);
  check(std::uint32_t{}, Type::u32);
  check(std::int64_t{}, Type::i64);
  check(std::uint64_t{}, Type::u64);
  std::vector<std::uint8_t> truth(x.size());
  pando_convert(Type::f32, Type::boolean, x.data(), truth.data(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(truth[i] != 0, !(x[i] == 0));
}

TEST(ElementwiseKernels, ResultsMayReplaceOperandsAndNothingElseChanges) {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{1000}}) {
    std::vector<float> x(n + 2), expected(n + 2);
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] = x[i] = static_cast<float>(i) * 0.01f - 3;
    pando_unary(Unary::tanh, Type::f32, x.data() + 1, expected.data() + 1, n);
    pando_unary(Unary::tanh, Type::f32, x.data() + 1, x.data() + 1, n);
    EXPECT_EQ(x, expected);
  }
}

// A chain has the bits of its operations one by one, for every length, on corner values, in place too.
TEST(ElementwiseKernels, ChainsAreTheirOperationsOneByOne) {
  constexpr std::size_t kMost = 150;
  const float corners[] = {0.0f,
                           -0.0f,
                           1.0f,
                           -2.5f,
                           1e-40f,
                           3e38f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  std::vector<std::vector<float>> in(4, std::vector<float>(kMost));
  for (std::size_t k = 0, step = 1; k < in.size(); ++k, step *= std::size(corners))
    for (std::size_t i = 0; i < kMost; ++i)
      in[k][i] = k < 2 ? corners[i / step % std::size(corners)] : static_cast<float>(std::sin(static_cast<double>(i * (k + 1)))) * 4;
  unsigned chains = 0;
  for (unsigned first = 0; first < static_cast<unsigned>(Binary::count); ++first)
    for (unsigned second = 0; second < static_cast<unsigned>(Binary::count); ++second) {
      const Binary ops[] = {static_cast<Binary>(first), static_cast<Binary>(second)};
      if (!can_chain(ops[0]) || !can_chain(ops[1])) continue;
      for (unsigned reversed = 0; reversed < 4; ++reversed) {
        const std::vector<float> constant(kConstantElements, in[3][chains % kMost]);
        const Link links[] = {{in[1].data(), link_op(ops[0]), (reversed & 1) != 0},
                              {in[2].data(), link_op(ops[1]), (reversed & 2) != 0},
                              {constant.data(), link_op(ops[0]), false, true}};
        const std::size_t n = ++chains % kMost;
        std::vector<float> expected = in[0];
        for (const Link& l : links) {
          const std::vector<float> all(kMost, l.operand[0]);
          const float* const operand = l.constant ? all.data() : l.operand;
          const Binary op = static_cast<Binary>(l.op);
          l.reversed ? pando_binary(op, Type::f32, operand, expected.data(), expected.data(), n)
                     : pando_binary(op, Type::f32, expected.data(), operand, expected.data(), n);
        }
        std::vector<float> out = in[0];
        pando_chain(out.data(), links, 3, out.data(), n);
        for (std::size_t i = 0; i < kMost; ++i)
          ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(out[i]) : std::memcmp(&out[i], &expected[i], 4) == 0)
              << first << ' ' << second << ' ' << reversed << " at " << i << " of " << n << ": " << out[i] << ", not " << expected[i];
      }
    }
  EXPECT_EQ(chains, 6u * 6 * 4);
}

// The links that are no operation of two: relu, a gradient's gate, square roots.
TEST(ElementwiseKernels, ChainsOfReluGatesAndRoots) {
  constexpr std::size_t kMost = 150;
  const float corners[] = {0.0f,
                           -0.0f,
                           1.5f,
                           -2.5f,
                           1e-40f,
                           -1e-40f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> value(kMost), gate(kMost), addend(kMost), none(kMost);
  for (std::size_t i = 0; i < kMost; ++i) {
    value[i] = corners[i % std::size(corners)];
    gate[i] = corners[i / std::size(corners) % std::size(corners)];
    addend[i] = static_cast<float>(i % 3) - 1;
  }
  const Link links[] = {{addend.data(), link_op(Binary::add), false},
                        {nullptr, LinkOp::relu, false},
                        {gate.data(), LinkOp::gate, false},
                        {nullptr, LinkOp::sqrt, false}};
  for (std::size_t n = 0; n < kMost; ++n) {
    std::vector<float> expected = value, out = value;
    std::vector<unsigned char> is_above(kMost);
    pando_binary(Binary::add, Type::f32, expected.data(), addend.data(), expected.data(), n);
    pando_unary(Unary::relu, Type::f32, expected.data(), expected.data(), n);
    pando_binary(Binary::greater, Type::f32, gate.data(), none.data(), is_above.data(), n);
    pando_select(4, expected.data(), none.data(), is_above.data(), expected.data(), n);
    pando_unary(Unary::sqrt, Type::f32, expected.data(), expected.data(), n);
    pando_chain(out.data(), links, std::size(links), out.data(), n);
    for (std::size_t i = 0; i < kMost; ++i)
      ASSERT_TRUE(std::isnan(expected[i]) ? std::isnan(out[i]) : std::memcmp(&out[i], &expected[i], 4) == 0)
          << value[i] << " + " << addend[i] << " gated by " << gate[i] << ", element " << i << " of " << n << ": " << out[i] << ", not "
          << expected[i];
  }
}

// A row is enough: whatever it says an operation takes, the kernels compute.
TEST(ElementwiseKernels, EveryRowIsComputed) {
  constexpr std::size_t kN = 70;
  constexpr Type kTypes[] = {Type::f32, Type::f16, Type::boolean, Type::i8,  Type::u8, Type::i16,
                             Type::u16, Type::i32, Type::u32,     Type::i64, Type::u64};
  for (const Type type : kTypes) {
    alignas(64) unsigned char ones[kN * 8], out[kN * 8];
    for (std::size_t i = 0; i < kN; ++i) {
      unsigned char* const one = ones + i * size_of(type);
      std::fill_n(one, size_of(type), static_cast<unsigned char>(0));
      if (type == Type::f32)
        one[3] = 0x3f, one[2] = 0x80;
      else if (type == Type::f16)
        one[1] = 0x3c;
      else
        one[0] = 1;
    }
    const auto expect_written = [&](bool boolean, const std::string& what) {
      // No function of ones has all these bits.
      const std::size_t bytes = kN * (boolean ? 1 : size_of(type));
      EXPECT_EQ(std::count(out, out + bytes, static_cast<unsigned char>(0xab)), 0) << what << " of type " << static_cast<int>(type);
    };
    for (unsigned op = 0; op < static_cast<unsigned>(Unary::count); ++op) {
      const auto unary = static_cast<Unary>(op);
      if (!has(unary, type)) continue;
      std::fill_n(out, sizeof out, static_cast<unsigned char>(0xab));
      pando_unary(unary, type, ones, out, kN);
      expect_written(is_test(unary), "unary " + std::to_string(op));
    }
    for (unsigned op = 0; op < static_cast<unsigned>(Binary::count); ++op) {
      const auto binary = static_cast<Binary>(op);
      if (!has(binary, type)) continue;
      std::fill_n(out, sizeof out, static_cast<unsigned char>(0xab));
      pando_binary(binary, type, ones, ones, out, kN);
      expect_written(is_relation(binary), "binary " + std::to_string(op));
    }
  }
}

}  // namespace
