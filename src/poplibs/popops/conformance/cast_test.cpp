// Conversions between all types, over every mapping, and where values do not fit.
#include "oplib.h"

#include <limits>

#include <poplar/MetadataCreation.hpp>
#include <poplar/Quarter.hpp>
#include <poplar/TypeConversion.hpp>
#include <popops/Cast.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Copy;
using program::Execute;
using program::Sequence;

const std::vector<Type> kTypes = {FLOAT,       HALF,          INT,   UNSIGNED_INT,   BOOL,     CHAR,
                                  SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG};

struct Limits {
  double low, high;
  int bits;
};

Limits limits_of(const Type& type) {
  if (type == BOOL) return {0, 1, 1};
  if (type == CHAR || type == SIGNED_CHAR) return {-128, 127, 8};
  if (type == UNSIGNED_CHAR) return {0, 255, 8};
  if (type == SHORT) return {-32768, 32767, 16};
  if (type == UNSIGNED_SHORT) return {0, 65535, 16};
  if (type == INT) return {-0x1p31, 0x1p31 - 1, 32};
  if (type == UNSIGNED_INT) return {0, 0x1p32 - 1, 32};
  if (type == LONGLONG) return {-0x1p63, 0x1p63, 64};
  return {0, 0x1p64, 64};
}

// What the header promises, in double. Values of 64 bits are those that a double has.
double expected_cast(const Type& from, const Type& to, double x) {
  if (from == to) return x;
  if (is_floating(to)) return rounded(to, to == HALF ? static_cast<double>(static_cast<float>(x)) : x);
  if (to == BOOL) return x != 0;
  const Limits limits = limits_of(to);
  if (is_floating(from)) return std::isnan(x) ? 0 : std::min(limits.high, std::max(limits.low, std::trunc(x)));
  if (x >= limits.low && x <= limits.high) return x;
  const double modulus = std::ldexp(1, limits.bits);
  const double wrapped = x - modulus * std::floor(x / modulus);
  return wrapped > limits.high ? wrapped - modulus : wrapped;
}

TEST(Cast, AllPairs) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& from : kTypes) {
        const auto value = is_floating(from)         ? uniform(-300, 300, 7)
                           : from == BOOL            ? integers(0, 1, 7)
                           : limits_of(from).low < 0 ? integers(-100, 100, 7)
                                                     : integers(0, 250, 7);
        const std::vector<std::vector<std::size_t>> shapes = {{}, {1}, {0, 4}, {37}, {11, 9}, {3, 5, 2, 7}};
        std::vector<Operand> operands;
        for (const auto& shape : shapes) operands.push_back(operand("x", from, shape, value, mapping));
        const auto out = run(machine, operands, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
          std::vector<Tensor> results;
          for (std::size_t i = 0; i < kTypes.size(); ++i) results.push_back(popops::cast(graph, in[i % in.size()], kTypes[i], prog));
          for (std::size_t i = 0; i < kTypes.size(); ++i) results.push_back(popops::cast(graph, in[4], kTypes[i], prog));
          return results;
        });
        for (std::size_t i = 0; i < out.size(); ++i) {
          const Type& to = kTypes[i % kTypes.size()];
          const Operand& x = operands[i < kTypes.size() ? i % operands.size() : 4];
          ASSERT_EQ(out[i].type, to);
          ASSERT_EQ(out[i].shape, x.shape);
          expect_close(out[i], map1(x, [&](double v) { return expected_cast(from, to, v); }), Tolerance{},
                       name_of(machine) + ' ' + name_of(mapping) + ' ' + from.toString() + " to " + to.toString());
        }
      }
}

// Ends of ranges, halves of units, infinities, NaN, subnormal numbers.
TEST(Cast, DifficultValues) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = {
      0,       -0.0,    0.5,       -0.5,   0.999,  -0.999, 1.5,   2.5,  -1.5,    inf,    -inf,     nan,       65504,   65519,  65520,
      65536,   -65520,  1e9,       -1e9,   3e9,    5e9,    -5e9,  1e18, 1e19,    1e20,   -1e20,    0x1p31,    -0x1p31, 0x1p32, 0x1p63,
      -0x1p63, 0x1p64,  127.9,     128,    -128.9, -129,   255.9, 256,  32767.5, 32768,  -32769,   65535.5,   1e-7,    3e-8,   2e-8,
      0x1p-24, 0x1p-25, 0x1.8p-25, 6.1e-5, 6.0e-5, 1e-30,  1e-40, 2049, 2051,    2047.5, 16777217, 0x1.ffcp15};
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const Type& from : {FLOAT, HALF}) {
      const Operand x = operand("x", from, {values.size()}, [&](std::size_t i) { return values[i]; });
      const auto out = run(machine, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
        std::vector<Tensor> results;
        for (const Type& to : kTypes) results.push_back(popops::cast(graph, in[0], to, prog));
        return results;
      });
      for (std::size_t i = 0; i < kTypes.size(); ++i)
        expect_close(out[i], map1(x, [&](double v) { return expected_cast(from, kTypes[i], v); }), Tolerance{},
                     from.toString() + " to " + kTypes[i].toString());
    }
}

TEST(Cast, IntegersWrapAndRound) {
  const std::vector<double> values = {0,     1,     -1,     127,      128,        255,           256,   257,   -129, 32768,
                                      65535, 65536, -32769, 16777217, 2147483647, -2147483648.0, 65504, 65519, 65520};
  for (const Type& from : {INT, LONGLONG}) {
    const Operand x = operand("x", from, {values.size()}, [&](std::size_t i) { return values[i]; });
    const auto out = run(Machine::ipu1, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      std::vector<Tensor> results;
      for (const Type& to : kTypes) results.push_back(popops::cast(graph, in[0], to, prog));
      return results;
    });
    for (std::size_t i = 0; i < kTypes.size(); ++i)
      expect_close(out[i], map1(x, [&](double v) { return expected_cast(from, kTypes[i], v); }), Tolerance{},
                   from.toString() + " to " + kTypes[i].toString());
  }
}

TEST(Cast, EveryHalf) {
  const Operand bits = operand("bits", UNSIGNED_SHORT, {65536}, [](std::size_t i) { return static_cast<double>(i); });
  const auto out = run(Machine::cpu, {bits}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
    const Tensor wide = popops::cast(graph, in[0].reinterpret(HALF), FLOAT, prog);
    return std::vector<Tensor>{wide, popops::cast(graph, wide, HALF, prog)};
  });
  for (unsigned i = 0; i < 65536; ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31), mantissa = static_cast<int>(i & 1023);
    double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent == 31) value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (i >> 15) value = -value;
    for (const Values& v : out) {
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(v[i])) << i;
      } else {
        EXPECT_EQ(v[i], value) << i;
      }
    }
  }
}

TEST(Cast, ToAGivenTensor) {
  for (const Machine machine : kMachines)
    for (const Mapping from : kMappings)
      for (const Mapping to : kMappings) {
        const Operand x = operand("x", FLOAT, {12, 31}, uniform(-9, 9, 4), from), y = operand("y", HALF, {12, 31}, uniform(0, 1, 1), to),
                      z = operand("z", INT, {12, 31}, uniform(0, 1, 1), to);
        const auto out = run(machine, {x, y, y, z, z}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
          popops::castWithOutput(graph, in[0], in[1], prog);
          prog.add(popops::cast(graph, in[0], in[2]));
          const ComputeSet cs = graph.addComputeSet("cs");
          popops::cast(graph, in[0], in[3], cs);
          const Tensor made = popops::cast(graph, in[0], INT, cs);
          const Tensor same = popops::cast(graph, in[0], FLOAT, cs);
          prog.add(Execute(cs));
          prog.add(popops::cast(graph, in[3], in[4]));  // of equal types
          return std::vector<Tensor>{in[1], in[2], in[3], in[4], made, same};
        });
        const std::string what = name_of(machine) + ' ' + name_of(from) + ' ' + name_of(to);
        const auto half = map1(x, [](double v) { return rounded(HALF, v); }), whole = map1(x, [](double v) { return std::trunc(v); });
        for (const std::size_t i : {0, 1}) expect_close(out[i], half, Tolerance{}, what);
        for (const std::size_t i : {2, 3, 4}) expect_close(out[i], whole, Tolerance{}, what);
        expect_close(out[5], x.values, Tolerance{}, what);
      }
}

TEST(Cast, RepeatedElementsAndConstants) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {9}, uniform(-9, 9, 4));
    const auto out = run(machine, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor ones = graph.addConstant(FLOAT, {9}, 1.0f);
      graph.setTileMapping(ones, 0);
      const Tensor all = popops::cast(graph, concat({in[0].broadcast(50, 0), ones, in[0].reverse(0)}), HALF, prog);
      EXPECT_TRUE(all.isParallelWriteable());
      return std::vector<Tensor>{all};
    });
    for (std::size_t i = 0; i < out[0].size(); ++i) {
      const double expected = i < 450 ? x[i % 9] : i < 459 ? 1 : x[8 - (i - 459)];
      EXPECT_EQ(out[0][i], rounded(HALF, expected)) << i;
    }
  }
}

// The numbers of an 8-bit format, from their definition.
double quarter_value(unsigned bits, bool f143, int scale) {
  if (bits == 0x80) return std::numeric_limits<double>::quiet_NaN();
  const int mantissa_bits = f143 ? 3 : 2, bias = f143 ? 8 : 16;
  const int exponent = static_cast<int>(bits & 0x7f) >> mantissa_bits, mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const double m = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  const double value = std::ldexp(m, std::max(exponent, 1) - bias - mantissa_bits + scale);
  return bits & 0x80 ? -value : value;
}

// The nearest of them; of two, the even one.
double nearest_quarter(double x, bool f143, int scale) {
  double best = 0;
  for (unsigned bits = 0; bits < 256; ++bits) {
    const double value = quarter_value(bits, f143, scale);
    const double nearer = std::abs(best - x) - std::abs(value - x);
    if (nearer > 0 || (nearer == 0 && bits % 2 == 0)) best = value;  // NaN compares false
  }
  return best;
}

TEST(Cast, Quarters) {
  using Format = QuarterMetadata::Format;
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const bool f143 : {true, false})
        for (const int scale : {0, -3, 2}) {
          const Operand x = operand("x", type, {13, 17}, uniform(-40, 40, 3));
          const auto out = run(machine, {x}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor metadata = createConstantMetadataTensor(graph, f143 ? Format::F143 : Format::F152, scale);
            const Tensor wide = createConstantMetadataTensor(graph, Format::F152, 4);
            graph.setTileMapping(metadata, 0);
            graph.setTileMapping(wide, 0);
            const Tensor q = popops::cast(graph, in[0], QUARTER, metadata, prog);
            EXPECT_EQ(q.elementType(), QUARTER);
            const Tensor copy = popops::cast(graph, q, QUARTER, prog);
            const Tensor other = popops::cast(graph, q, QUARTER, wide, prog);
            const ComputeSet cs = graph.addComputeSet("cs");
            const Tensor by_set = popops::cast(graph, in[0], QUARTER, metadata, cs);
            prog.add(Execute(cs));
            return std::vector<Tensor>{popops::cast(graph, q, FLOAT, prog), popops::cast(graph, copy, HALF, prog),
                                       popops::cast(graph, other, FLOAT, prog),
                                       popops::cast(graph, by_set.transpose(), FLOAT, prog).transpose()};
          });
          const auto near = map1(x, [&](double v) { return nearest_quarter(v, f143, scale); });
          for (const std::size_t i : {0, 1, 3}) expect_close(out[i], near, Tolerance{}, name_of(machine));
          std::vector<double> twice;
          for (const double v : near) twice.push_back(nearest_quarter(v, false, 4));
          expect_close(out[2], twice, Tolerance{}, name_of(machine));
        }
}

// Codelets have a float8 of their own: it agrees with the host's on every code, for every half, with the scales at both ends.
TEST(Cast, QuartersAreThoseOfTheHost) {
  using Format = QuarterMetadata::Format;
  std::vector<float> halfs;
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    if ((code & 0x7fff) > 0x7c01) continue;  // one NaN will do
    const auto bits = static_cast<std::uint16_t>(code);
    float value;
    convertFromDeviceType(HALF, &bits, &value, 1);
    halfs.push_back(value);
  }
  const Operand all = operand("halfs", HALF, {halfs.size()}, [&](std::size_t i) { return halfs[i]; });
  const Operand codes = operand("codes", UNSIGNED_CHAR, {256}, [](std::size_t i) { return static_cast<double>(i); });
  for (const Format format : {Format::F143, Format::F152})
    for (const int scale : {-32, -17, -1, 0, 5, 31}) {
      const QuarterMetadata m(format, scale);
      const auto out = run(Machine::cpu, {all, codes}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor metadata = createConstantMetadataTensor(graph, format, scale);
        graph.setTileMapping(metadata, 0);
        const Tensor quarters = graph.clone(QUARTER, metadata, in[1], "quarters");
        prog.add(Copy(in[1], quarters.reinterpret(UNSIGNED_CHAR)));
        return std::vector<Tensor>{popops::cast(graph, in[0], QUARTER, metadata, prog).reinterpret(UNSIGNED_CHAR),
                                   popops::cast(graph, quarters, FLOAT, prog)};
      });
      std::vector<unsigned char> encoded(halfs.size());
      convertToDeviceType(QUARTER, m, halfs, encoded.data());
      std::vector<unsigned char> every(256);
      for (unsigned i = 0; i < 256; ++i) every[i] = static_cast<unsigned char>(i);
      std::vector<float> decoded(256);
      convertFromDeviceType(QUARTER, m, every.data(), decoded);
      const std::string what = toString(format) + " " + std::to_string(scale);
      expect_close(out[0], {encoded.begin(), encoded.end()}, Tolerance{}, what);
      expect_close(out[1], {decoded.begin(), decoded.end()}, Tolerance{}, what);
    }
}

TEST(Cast, Accuracy) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
  const std::vector<std::pair<double, bool>> rows = {{1, true},
                                                     {0, true},
                                                     {1.0001, true},
                                                     {1e-9, false},
                                                     {1e6, false},
                                                     {std::numeric_limits<double>::infinity(), false},
                                                     {std::numeric_limits<double>::quiet_NaN(), false},
                                                     {-0.5, true},
                                                     {65504, true},
                                                     {65520, false}};
  for (const auto& [value, fits] : rows) {
    const auto out = run(Machine::ipu1,
                         {operand(
                             "x", FLOAT, {1}, [&, v = value](std::size_t) { return v; }, Mapping::one)},
                         [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                           return std::vector<Tensor>{popops::checkAccuracyWhenCast(graph, in[0], HALF, 1e-3, prog)};
                         });
    EXPECT_EQ(out[0][0], fits) << value;
  }
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const Tensor two = graph.addVariable(FLOAT, {2}, VariableMappingMethod::LINEAR);
  EXPECT_THROW(popops::checkAccuracyWhenCast(graph, two, HALF, 0.1, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::checkAccuracyWhenCast(graph, two[0], FLOAT, 0.1, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, two, QUARTER, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, graph.addVariable(INT, {2}, VariableMappingMethod::LINEAR), QUARTER,
                            createConstantMetadataTensor(graph, QuarterMetadata::Format::F143, 0), prog),
               poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, two, HALF, createConstantMetadataTensor(graph, QuarterMetadata::Format::F143, 0), prog),
               poputil::poplibs_error);
#pragma clang diagnostic pop
}

TEST(Cast, UsesTheTiles) {
  for (const Mapping mapping : {Mapping::linear, Mapping::one})
    for (const auto& [from, to] : {std::pair<Type, Type>{FLOAT, HALF}, {HALF, FLOAT}, {INT, BOOL}, {UNSIGNED_CHAR, LONGLONG}})
      EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", from, {400, 250}, integers(0, 9, 1), mapping)},
                                    [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                      return std::vector<Tensor>{popops::cast(graph, in[0], to, prog)};
                                    }),
                0.9)
          << from << to << name_of(mapping);
}

TEST(Cast, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const Tensor a = graph.addVariable(FLOAT, {3, 4}, VariableMappingMethod::LINEAR),
               b = graph.addVariable(HALF, {4, 3}, VariableMappingMethod::LINEAR);
  const Tensor ones = graph.addConstant(HALF, {3, 4}, 1.0f), same = graph.addVariable(FLOAT, {12}, VariableMappingMethod::LINEAR);
  graph.setTileMapping(ones, 0);
  const ComputeSet cs = graph.addComputeSet("cs");
  EXPECT_THROW(popops::castWithOutput(graph, a, b, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::castWithOutput(graph, a, same, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, a, ones), poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, a, b.reshape({12}).slice(0, 1).broadcast(12, 0).reshape({3, 4}), cs), poputil::poplibs_error);
  EXPECT_THROW(popops::cast(graph, a, Type(), prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
