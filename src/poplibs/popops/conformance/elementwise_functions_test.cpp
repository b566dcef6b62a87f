// Every function of popops/ExprOp.hpp, for every type that it has: new results, in place, and into a given tensor.
#include "oplib.h"

#include <popops/ElementWise.hpp>
#include <popops/ExprOpUtils.hpp>

#include <sstream>

namespace oplib {
namespace {

using namespace poplar;
using namespace popops::expr;
using program::Sequence;

const std::vector<Type> kFloating = {FLOAT, HALF};
const std::vector<Type> kSigned = {INT, SHORT, SIGNED_CHAR, LONGLONG};
const std::vector<Type> kUnsigned = {UNSIGNED_INT, UNSIGNED_SHORT, UNSIGNED_CHAR, UNSIGNED_LONGLONG};
std::vector<Type> together(std::initializer_list<std::vector<Type>> lists) {
  std::vector<Type> out;
  for (const auto& l : lists) out.insert(out.end(), l.begin(), l.end());
  return out;
}
unsigned bits_of(const Type& t) {
  return t == INT || t == UNSIGNED_INT ? 32 : t == SHORT || t == UNSIGNED_SHORT ? 16 : t == LONGLONG || t == UNSIGNED_LONGLONG ? 64 : 8;
}
bool is_signed(const Type& t) { return t == INT || t == SHORT || t == SIGNED_CHAR || t == LONGLONG || t == CHAR; }

template <class Op>
std::string name_of_op(Op op) {
  using namespace ostream_ext;
  std::ostringstream out;
  out << op;
  return out.str();
}

struct UnaryRow {
  UnaryOpType op;
  std::vector<Type> types;
  double low, high;
  std::function<double(double, const Type&)> of;
};

double sign_of(double x) { return (x > 0) - (x < 0); }

double gelu_gate(double x) { return 1 / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

std::vector<UnaryRow> unary_rows() {
  const std::vector<Type> numbers = together({kFloating, kSigned});
  const auto plain = [](double (*f)(double)) { return [f](double x, const Type&) { return f(x); }; };
  const std::vector<Type> integers = together({kSigned, kUnsigned});
  return {
      {UnaryOpType::ABSOLUTE, numbers, -100, 100, plain(std::fabs)},
      {UnaryOpType::ASIN, kFloating, -1, 1, plain(std::asin)},
      {UnaryOpType::BITWISE_NOT, integers, 0, 100,
       [](double x, const Type& t) { return is_signed(t) ? -x - 1 : std::ldexp(1, static_cast<int>(bits_of(t))) - 1 - x; }},
      {UnaryOpType::CBRT, kFloating, -8, 8, plain(std::cbrt)},
      {UnaryOpType::CEIL, kFloating, -9, 9, plain(std::ceil)},
      {UnaryOpType::COS, kFloating, -9, 9, plain(std::cos)},
      {UnaryOpType::COUNT_LEADING_ZEROS, integers, 1, 120,
       [](double x, const Type& t) { return static_cast<double>(bits_of(t)) - 1 - std::floor(std::log2(x)); }},
      {UnaryOpType::ERF, kFloating, -4, 4, plain(std::erf)},
      {UnaryOpType::EXPONENT, kFloating, -8, 8, plain(std::exp)},
      {UnaryOpType::EXPONENT_MINUS_ONE, kFloating, -4, 4, plain(std::expm1)},
      {UnaryOpType::EXPONENT2, kFloating, -8, 8, plain(std::exp2)},
      {UnaryOpType::FLOOR, kFloating, -9, 9, plain(std::floor)},
      {UnaryOpType::GELU, kFloating, -4, 4, [](double x, const Type&) { return x * gelu_gate(x); }},
      {UnaryOpType::GELU_SLOPE, kFloating, -4, 4,
       [](double x, const Type&) {
         const double s = gelu_gate(x), slope = 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
         return s * (1 + x * (1 - s) * slope);
       }},
      {UnaryOpType::GELU_ERF, kFloating, -4, 4, [](double x, const Type&) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {UnaryOpType::INVERSE, kFloating, 0.1, 9, [](double x, const Type&) { return 1 / x; }},
      {UnaryOpType::IS_FINITE, kFloating, -9, 9, [](double, const Type&) { return 1.0; }},
      {UnaryOpType::IS_INF, kFloating, -9, 9, [](double, const Type&) { return 0.0; }},
      {UnaryOpType::IS_NAN, kFloating, -9, 9, [](double, const Type&) { return 0.0; }},
      {UnaryOpType::LOGARITHM, kFloating, 0.01, 90, plain(std::log)},
      {UnaryOpType::LOGARITHM_ONE_PLUS, kFloating, -0.9, 9, plain(std::log1p)},
      {UnaryOpType::LOGICAL_NOT, {BOOL}, -0.5, 1.5, [](double x, const Type&) { return x == 0 ? 1.0 : 0.0; }},
      {UnaryOpType::NEGATE, numbers, -100, 100, [](double x, const Type&) { return -x; }},
      {UnaryOpType::NEARBY_INT, kFloating, -9, 9, plain(std::nearbyint)},
      {UnaryOpType::POPCOUNT, integers, 0, 120,
       [](double x, const Type&) { return static_cast<double>(__builtin_popcount(static_cast<unsigned>(x))); }},
      {UnaryOpType::RELU, numbers, -100, 100, [](double x, const Type&) { return x < 0 ? 0 : x; }},
      {UnaryOpType::SIGNUM, numbers, -100, 100, [](double x, const Type&) { return sign_of(x); }},
      {UnaryOpType::SIN, kFloating, -9, 9, plain(std::sin)},
      {UnaryOpType::TAN, kFloating, -1.5, 1.5, plain(std::tan)},
      {UnaryOpType::TANH, kFloating, -5, 5, plain(std::tanh)},
      {UnaryOpType::ROUND, kFloating, -9, 9, plain(std::round)},
      {UnaryOpType::SQRT, kFloating, 0, 100, plain(std::sqrt)},
      {UnaryOpType::SQRT, integers, 0, 120, [](double x, const Type&) { return std::floor(std::sqrt(x)); }},
      {UnaryOpType::SQUARE, numbers, -11, 11, [](double x, const Type&) { return x * x; }},
      {UnaryOpType::SIGMOID, kFloating, -8, 8, [](double x, const Type&) { return 1 / (1 + std::exp(-x)); }},
      {UnaryOpType::RSQRT, kFloating, 0.1, 9, [](double x, const Type&) { return 1 / std::sqrt(x); }},
      {UnaryOpType::TRUNC, kFloating, -9, 9, plain(std::trunc)},
  };
}

TEST(ElementWiseFunctions, Unary) {
  std::vector<bool> seen(static_cast<unsigned>(UnaryOpType::TRUNC) + 1);
  std::size_t turn = 0;
  for (const UnaryRow& row : unary_rows()) {
    seen[static_cast<unsigned>(row.op)] = true;
    for (const Type& type : row.types) {
      const Machine machine = kMachines[turn % kMachines.size()];
      const Mapping mapping = kMappings[turn++ / kMachines.size() % kMappings.size()];
      const Operand x = operand("x", type, {5, 29}, uniform(row.low, row.high, turn), mapping);
      const bool test = row.op == UnaryOpType::IS_FINITE || row.op == UnaryOpType::IS_INF || row.op == UnaryOpType::IS_NAN;
      RunOptions options;
      options.in_place = true;
      const auto out = run(
          machine, {x},
          [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor a = popops::map(g, row.op, in[0], prog);
            const Tensor b = g.clone(a);
            popops::mapWithOutput(g, row.op, in[0], b, prog);
            if (!test) popops::mapInPlace(g, row.op, in[0], prog);
            return std::vector<Tensor>{a, b};
          },
          options);
      const std::string what = name_of_op(row.op) + ' ' + name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString();
      const auto expected = map1(x, [&](double v) { return row.of(v, type); });
      for (std::size_t i = 0; i < (test ? 2u : 3u); ++i) expect_close(out[i], expected, what);
      if (test) EXPECT_EQ(out[0].type, BOOL);
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i]) << name_of_op(static_cast<UnaryOpType>(i));
}

struct BinaryRow {
  BinaryOpType op;
  std::vector<Type> types;
  double low, high, low2, high2;
  std::function<double(double, double)> of;
};

std::vector<BinaryRow> binary_rows() {
  const std::vector<Type> integers = together({kSigned, kUnsigned}), numbers = together({kFloating, integers}),
                          any = together({numbers, {BOOL}});
  const std::vector<Type> with_sign = together({kFloating, kSigned});
  const auto i = [](double x) { return static_cast<long long>(x); };
  const auto d = [](long long x) { return static_cast<double>(x); };
  return {
      {BinaryOpType::ADD, numbers, 0, 60, 0, 60, [](double a, double b) { return a + b; }},
      {BinaryOpType::ATAN2, kFloating, -2, 2, -2, 2, [](double a, double b) { return std::atan2(a, b); }},
      {BinaryOpType::BITWISE_AND, integers, 0, 120, 0, 120, [=](double a, double b) { return d(i(a) & i(b)); }},
      {BinaryOpType::BITWISE_OR, integers, 0, 120, 0, 120, [=](double a, double b) { return d(i(a) | i(b)); }},
      {BinaryOpType::BITWISE_XOR, integers, 0, 120, 0, 120, [=](double a, double b) { return d(i(a) ^ i(b)); }},
      {BinaryOpType::BITWISE_XNOR, kSigned, 0, 120, 0, 120, [=](double a, double b) { return d(~(i(a) ^ i(b))); }},
      {BinaryOpType::DIVIDE, kFloating, -9, 9, 0.5, 9, [](double a, double b) { return a / b; }},
      {BinaryOpType::DIVIDE, integers, 0, 120, 0, 9, [](double a, double b) { return b == 0 ? 0 : std::trunc(a / b); }},
      {BinaryOpType::EQUAL, any, 0, 5, 0, 5, [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {BinaryOpType::GREATER_THAN_EQUAL, any, 0, 5, 0, 5, [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {BinaryOpType::GREATER_THAN, any, 0, 5, 0, 5, [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {BinaryOpType::INV_STD_DEV_TO_VARIANCE, kFloating, 0.5, 2, 0.01, 0.1, [](double a, double b) { return 1 / (a * a) - b; }},
      {BinaryOpType::LESS_THAN_EQUAL, any, 0, 5, 0, 5, [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {BinaryOpType::LOGICAL_AND, {BOOL}, -0.5, 1.5, -0.5, 1.5, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {BinaryOpType::LOGICAL_OR, {BOOL}, -0.5, 1.5, -0.5, 1.5, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {BinaryOpType::LESS_THAN, any, 0, 5, 0, 5, [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {BinaryOpType::MAXIMUM, numbers, 0, 99, 0, 99, [](double a, double b) { return std::max(a, b); }},
      {BinaryOpType::MINIMUM, with_sign, -99, 99, -99, 99, [](double a, double b) { return std::min(a, b); }},
      {BinaryOpType::MULTIPLY, with_sign, -11, 11, -11, 11, [](double a, double b) { return a * b; }},
      {BinaryOpType::NOT_EQUAL, any, 0, 5, 0, 5, [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {BinaryOpType::POWER, kFloating, 0.1, 3, -3, 3, [](double a, double b) { return std::pow(a, b); }},
      {BinaryOpType::POWER, integers, 0, 4, 0, 4, [](double a, double b) { return std::pow(a, b); }},
      {BinaryOpType::REMAINDER, kFloating, -9, 9, 0.5, 3, [](double a, double b) { return std::fmod(a, b); }},
      {BinaryOpType::REMAINDER, integers, 0, 120, 0, 9, [](double a, double b) { return b == 0 ? a : std::fmod(a, b); }},
      {BinaryOpType::SHIFT_LEFT, integers, 0, 7, 0, 5, [=](double a, double b) { return d(i(a) << i(b)); }},
      {BinaryOpType::SHIFT_RIGHT, integers, 0, 120, 0, 6, [=](double a, double b) { return d(i(a) >> i(b)); }},
      {BinaryOpType::SHIFT_RIGHT_SIGN_EXTEND, kSigned, -120, 120, 0, 6, [=](double a, double b) { return d(i(a) >> i(b)); }},
      {BinaryOpType::SUBTRACT, with_sign, -50, 50, -50, 50, [](double a, double b) { return a - b; }},
      {BinaryOpType::VARIANCE_TO_INV_STD_DEV, kFloating, 0.5, 2, 0.01, 0.1, [](double a, double b) { return 1 / std::sqrt(a + b); }},
  };
}

bool is_relation(BinaryOpType op) {
  return op == BinaryOpType::EQUAL || op == BinaryOpType::NOT_EQUAL || op == BinaryOpType::LESS_THAN ||
         op == BinaryOpType::LESS_THAN_EQUAL || op == BinaryOpType::GREATER_THAN || op == BinaryOpType::GREATER_THAN_EQUAL;
}

TEST(ElementWiseFunctions, Binary) {
  std::vector<bool> seen(static_cast<unsigned>(BinaryOpType::VARIANCE_TO_INV_STD_DEV) + 1);
  std::size_t turn = 0;
  for (const BinaryRow& row : binary_rows()) {
    seen[static_cast<unsigned>(row.op)] = true;
    for (const Type& type : row.types) {
      const Machine machine = kMachines[turn % kMachines.size()];
      const Mapping mapping = kMappings[turn++ / kMachines.size() % kMappings.size()];
      const Operand x = operand("x", type, {5, 29}, uniform(row.low, row.high, turn), mapping),
                    y = operand("y", type, {5, 29}, uniform(row.low2, row.high2, turn + 99));
      const Operand one = operand("one", type, {1}, uniform(row.low2, row.high2, turn + 7)),
                    line = operand("line", type, {5, 1}, uniform(row.low2, row.high2, turn + 8));
      RunOptions options;
      options.in_place = true;
      const auto out = run(
          machine, {x, y, one, line},
          [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor a = popops::map(g, row.op, in[0], in[1], prog), b = g.clone(a);
            popops::mapWithOutput(g, row.op, in[0], in[2], b, prog);
            const Tensor c = popops::map(g, row.op, in[0], in[3], prog);
            if (!is_relation(row.op) || type == BOOL) popops::mapInPlace(g, row.op, in[0], in[1], prog);
            return std::vector<Tensor>{a, b, c};
          },
          options);
      const std::string what = name_of_op(row.op) + ' ' + name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString();
      std::vector<double> with_one, with_line;
      for (std::size_t i = 0; i < x.size(); ++i) with_one.push_back(row.of(x[i], one[0])), with_line.push_back(row.of(x[i], line[i / 29]));
      expect_close(out[0], map2(x, y, row.of), what);
      expect_close(out[1], with_one, what + " scalar");
      expect_close(out[2], with_line, what + " column");
      if (!is_relation(row.op) || type == BOOL) expect_close(out[3], map2(x, y, row.of), what + " in place");
      if (is_relation(row.op)) EXPECT_EQ(out[0].type, BOOL);
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(seen[i]) << name_of_op(static_cast<BinaryOpType>(i));
}

TEST(ElementWiseFunctions, SelectAndClamp) {
  std::size_t turn = 0;
  for (const Type& type : together({kFloating, kSigned, kUnsigned, {BOOL}})) {
    const Machine machine = kMachines[turn % kMachines.size()];
    const Mapping mapping = kMappings[turn++ % kMappings.size()];
    const Operand x = operand("x", type, {3, 41}, integers(0, 100, 1), mapping), y = operand("y", type, {41}, integers(0, 100, 2), mapping);
    const Operand c = operand("c", BOOL, {3, 41}, integers(0, 1, 3)), high = operand("high", type, {}, [](std::size_t) { return 70; });
    RunOptions options;
    options.in_place = true;
    const auto out = run(
        machine, {x, y, c, high},
        [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          std::vector<Tensor> results = {popops::select(g, in[0], in[1], in[2], prog)};
          results.push_back(type == BOOL ? results[0] : popops::clamp(g, in[0], in[1], in[3], prog));
          popops::selectInPlace(g, in[0], in[1], in[2], prog);
          return results;
        },
        options);
    std::vector<double> selected, clamped;
    for (std::size_t i = 0; i < x.size(); ++i) {
      selected.push_back(c[i] != 0 ? x[i] : y[i % 41]);
      clamped.push_back(std::min(std::max(x[i], y[i % 41]), high[0]));
    }
    const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString();
    expect_close(out[0], selected, what);
    if (type != BOOL) expect_close(out[1], clamped, what);
    expect_close(out[2], selected, what + " in place");
  }
}

// The functions with names of their own, with tensors and with numbers.
TEST(ElementWiseFunctions, Named) {
  const Operand x = operand("x", FLOAT, {40}, uniform(0.5, 2, 1)), y = operand("y", FLOAT, {40}, uniform(0.5, 2, 2)),
                h = operand("h", HALF, {40}, uniform(0.5, 2, 3));
  const auto out = run(Machine::ipu1, {x, y, h}, [](Graph& g, std::vector<Tensor>& in, Sequence& p) {
    using namespace popops;
    const Tensor out = g.clone(in[0]);
    rsqrtWithOutput(g, in[0], out, p);
    addInPlace(g, out, 1.0f, p);
    return std::vector<Tensor>{add(g, in[0], 2.0f, p),
                               sub(g, 2.0f, in[0], p),
                               div(g, in[0], in[1], p),
                               pow(g, in[2], 2.0, p),
                               gt(g, in[0], 1.0f, p),
                               varianceToInvStdDev(g, in[0], 0.01f, p),
                               varianceToInvStdDev(g, in[0], in[1], p, HALF),
                               invStdDevToVariance(g, in[2], 0.01f, p, FLOAT),
                               max(g, in[0], in[1], p),
                               atan2(g, 1.0f, in[0], p),
                               out,
                               trunc(g, in[0], p),
                               isNaN(g, in[0], p)};
  });
  expect_close(out[0], map1(x, [](double v) { return v + 2; }));
  expect_close(out[1], map1(x, [](double v) { return 2 - v; }));
  expect_close(out[2], map2(x, y, [](double a, double b) { return a / b; }));
  expect_close(out[3], map1(h, [](double v) { return v * v; }));
  expect_close(out[4], map1(x, [](double v) { return v > 1 ? 1.0 : 0.0; }));
  EXPECT_EQ(out[5].type, HALF);
  expect_close(out[5], map1(x, [](double v) { return 1 / std::sqrt(v + 0.01f); }));
  expect_close(out[6], map2(x, y, [](double a, double b) { return 1 / std::sqrt(a + b); }));
  EXPECT_EQ(out[7].type, FLOAT);
  expect_close(out[7], map1(h, [](double v) { return 1 / (v * v) - 0.01f; }));
  expect_close(out[8], map2(x, y, [](double a, double b) { return std::max(a, b); }));
  expect_close(out[9], map1(x, [](double v) { return std::atan2(1, v); }));
  expect_close(out[10], map1(x, [](double v) { return 1 / std::sqrt(v) + 1; }));
  expect_close(out[11], map1(x, [](double v) { return std::trunc(v); }));
  expect_close(out[12], map1(x, [](double) { return 0.0; }));
}

}  // namespace
}  // namespace oplib
