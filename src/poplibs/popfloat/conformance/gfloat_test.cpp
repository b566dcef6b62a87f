// Formats of any width against formats that are known otherwise, and against all numbers of a format one by one.
#include <popfloat/experimental/CastToGfloat.hpp>
#include <popfloat/experimental/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <cstring>
#include <functional>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace popfloat::experimental;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using FormatConfig = GfloatCast::FormatConfig;
using RoundConfig = GfloatCast::RoundConfig;
using CastConfig = GfloatCast::CastConfig;

const RoundType kModes[] = {RoundType::RZ, RoundType::RN, RoundType::RA, RoundType::RU, RoundType::RD};

GfloatCast cast_of(const FormatConfig& format, RoundType mode, SpecType storage, bool nan_on_overflow = true) {
  return GfloatCast(format, RoundConfig(mode, 23, format.getCalculationType()), nan_on_overflow, storage);
}

// What castNativeToGfloat gives and, of packed numbers, what castGfloatToNative makes of it.
std::vector<Values> converted(const GfloatCast& cast, const Operand& x, Machine machine = Machine::ipu1) {
  return run(machine, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
    addCodelets(g);
    GfloatCast c = cast;
    c.createCastOpParamsTensor(g, prog);
    Tensors out = {c.castNativeToGfloat(g, in[0], prog)};
    if (!c.getStoreAsNative()) out.push_back(c.castGfloatToNative(g, out[0], prog));
    return out;
  });
}

Operand floats(const std::vector<double>& values) {
  return operand("x", FLOAT, {values.size()}, [&](std::size_t i) { return values[i]; });
}

// All numbers of a format that are not negative, in order, and the steps below the least normal one, whether they are its own or not.
std::vector<double> grid_of(const FormatConfig& f) {
  const int m = static_cast<int>(f.getNumMantissaBits()), top = (1 << f.getNumExponentBits()) - (f.infAndNansEnabled() ? 1 : 0);
  std::vector<double> out;
  for (int e = 0; e < top; ++e)
    for (int i = 0; i < 1 << m; ++i)
      out.push_back(e == 0 ? std::ldexp(i, 1 - f.getExponentBias() - m) : std::ldexp((1 << m) + i, e - f.getExponentBias() - m));
  return out;
}

double in_format(double x, const FormatConfig& f, const std::vector<double>& grid, RoundType mode) {
  const double v = std::fabs(x), least = f.isDenormEnabled() ? grid[1] : std::ldexp(1, 1 - f.getExponentBias());
  if (v < grid[1] / 2) return 0;
  const auto above = std::upper_bound(grid.begin(), grid.end(), v);
  const std::size_t low = static_cast<std::size_t>(above - grid.begin()) - 1;
  if (above == grid.end()) return x < 0 ? -grid.back() : grid.back();
  const double below = grid[low], middle = (below + *above) / 2;
  bool up = false;
  if (mode == RoundType::RN) up = v > middle || (v == middle && low % 2 != 0);
  if (mode == RoundType::RA) up = v >= middle;
  if (mode == RoundType::RU) up = v != below && x > 0;
  if (mode == RoundType::RD) up = v != below && x < 0;
  const double out = up ? *above : below;
  return out < least ? 0 : x < 0 ? -out : out;
}

TEST(Gfloat, EveryRounding) {
  struct Row {
    unsigned mantissa, exponent;
    int bias;
    bool denormals, infinities;
    SpecType arithmetic;
  };
  const std::vector<Row> rows = {
      {10, 5, 15, true, true, SpecType::FP32}, {10, 5, 15, false, false, SpecType::FP32}, {4, 3, 3, true, false, SpecType::FP32},
      {4, 3, 3, true, false, SpecType::FP16},  {2, 5, 29, true, true, SpecType::FP16},    {3, 4, 7, true, true, SpecType::AUTO},
      {3, 4, 7, false, true, SpecType::AUTO},  {9, 6, 62, false, false, SpecType::AUTO},  {7, 0, 1, true, false, SpecType::FP32},
      {7, 0, 1, true, false, SpecType::FP16},  {2, 5, 15, true, false, SpecType::FP16},   {5, 1, 2, true, true, SpecType::FP32},
      {5, 1, 2, true, false, SpecType::FP16},  {8, 5, 15, true, true, SpecType::AUTO}};
  for (const Row& row : rows) {
    const FormatConfig f(row.mantissa, row.exponent, row.bias, row.denormals, row.infinities, row.arithmetic);
    const std::vector<double> grid = grid_of(f);
    // Numbers of the format, middles, and what lies between; in half arithmetic those that HALF has when scaled.
    const auto random = uniform(0, 1, row.mantissa + row.exponent);
    std::vector<double> x;
    const bool half = f.getCalculationType() == HALF;
    const int scale = half ? row.bias - (row.exponent == 5 && !row.infinities ? 16 : 15) : 0;
    for (std::size_t i = 0; i + 1 < grid.size(); i += 1 + grid.size() / 300) {
      const double step = grid[i + 1] - grid[i];
      for (const double part : {0.0, 0.25, 0.5, 0.75, random(i)}) {
        double value = static_cast<float>(grid[i] + part * step);
        if (half) value = std::ldexp(rounded(HALF, std::ldexp(value, scale)), -scale);
        x.insert(x.end(), {value, -value});
      }
    }
    for (const RoundType mode : kModes) {
      const std::string what =
          std::to_string(row.mantissa) + " " + std::to_string(row.exponent) + " mode " + std::to_string(static_cast<int>(mode));
      const Operand in = floats(x);
      std::vector<double> expected;
      for (std::size_t i = 0; i < in.size(); ++i) expected.push_back(in_format(in[i], f, grid, mode));
      expect_close(converted(cast_of(f, mode, SpecType::FP32), in)[0], expected, Tolerance{}, "native " + what);
      if (half)
        for (double& value : expected) value = rounded(HALF, value);
      const GfloatCast packed = cast_of(f, mode, SpecType::AUTO);
      expect_close(converted(packed, in)[packed.getStoreAsNative() ? 0 : 1], expected, Tolerance{}, "packed " + what);
    }
  }
}

// Packed numbers of formats that are known otherwise have their bits.
TEST(Gfloat, KnownEncodings) {
  const auto values = uniform(-6, 6, 4);
  const Operand x = operand("x", FLOAT, {400}, [&](std::size_t i) { return values(i) * std::pow(2, static_cast<int>(i % 21) - 18); });
  const auto out_half = converted(cast_of(FormatConfig(10, 5, 15, true, true), RoundType::RN, SpecType::INT16), x);
  const auto out_bfloat = converted(cast_of(FormatConfig(7, 8, 127, true, true), RoundType::RZ, SpecType::AUTO), x);
  const auto out_eight = converted(cast_of(FormatConfig(2, 5, 15, true, true), RoundType::RZ, SpecType::AUTO), x);
  EXPECT_EQ(out_half[0].type, SHORT);
  EXPECT_EQ(out_eight[0].type, CHAR);
  EXPECT_EQ(out_eight[1].type, HALF);
  std::vector<double> half_bits, bfloat_bits, eight_bits;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float value = static_cast<float>(x[i]);
    const _Float16 h = static_cast<_Float16>(value);
    std::int16_t of_half;
    std::int32_t of_float;
    std::memcpy(&of_half, &h, 2);
    std::memcpy(&of_float, &value, 4);
    half_bits.push_back(h == 0 ? 0 : of_half);
    bfloat_bits.push_back(of_float >> 16);
    const auto eight = static_cast<std::int8_t>(of_half >> 8);
    eight_bits.push_back((eight & 0x7f) == 0 ? 0 : eight);
  }
  expect_close(out_half[0], half_bits, Tolerance{}, "half");
  expect_close(out_bfloat[0], bfloat_bits, Tolerance{}, "bfloat16");
  expect_close(out_eight[0], eight_bits, Tolerance{}, "1 5 2");
}

TEST(Gfloat, TooGreatNumbers) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const Operand x = floats({100, -100, 1e30, infinity, -infinity, nan, 14, 15});
  const FormatConfig whole(2, 3, 3, true, true, SpecType::FP32), without(2, 3, 3, true, false, SpecType::FP32);  // greatest 14 and 28
  for (const SpecType storage : {SpecType::FP32, SpecType::AUTO}) {
    const std::size_t last = storage == SpecType::AUTO;
    expect_close(converted(cast_of(whole, RoundType::RZ, storage), x)[last], {nan, nan, nan, nan, nan, nan, 14, 14}, Tolerance{}, "NaN");
    expect_close(converted(cast_of(whole, RoundType::RN, storage, false), x)[last], {14, -14, 14, 14, -14, nan, 14, 14}, Tolerance{},
                 "ends");
    expect_close(converted(cast_of(without, RoundType::RZ, storage), x)[last], {28, -28, 28, 28, -28, 28, 14, 14}, Tolerance{}, "no NaN");
  }
}

TEST(Gfloat, HalfsAndLayouts) {
  const FormatConfig f(3, 4, 7, true, true);
  const std::vector<double> grid = grid_of(f);
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings) {
      const Operand x = operand("x", HALF, {7, 30}, uniform(-9, 9, 2), mapping);
      std::vector<double> expected;
      for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(in_format(x[i], f, grid, RoundType::RN));
      const auto out = converted(cast_of(f, RoundType::RN, SpecType::FP16), x, machine);
      EXPECT_EQ(out[0].type, HALF);
      EXPECT_EQ(out[0].shape, x.shape);
      expect_close(out[0], expected, Tolerance{}, name_of(machine) + " " + name_of(mapping));
    }
  EXPECT_EQ(converted(cast_of(f, RoundType::RN, SpecType::AUTO), operand("x", FLOAT, {0, 3}, uniform(0, 1, 1)))[0].size(), 0u);
}

double normal_below(double x) { return 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }

// How often a number goes down, against the noise's distribution function.
TEST(Gfloat, Noise) {
  struct Row {
    SRDensityType density;
    float offset, scale, min, max;
    double down;  // 0.3 of a step is cut off
  };
  const double n = 0.2, a = -0.4, b = 0.3;  // 0.5 - 0.3, and the ends
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x / 0.2)); };
  const auto laplace = [](double x) { return x < 0 ? 0.5 * std::exp(x / 0.2) : 1 - 0.5 * std::exp(-x / 0.2); };
  const auto logit = [](double x) { return normal_below(std::log(x / (1 - x))); };
  const std::vector<Row> rows = {
      {SRDensityType::UNIFORM, 0, 1, 0, 1, 0.7},
      {SRDensityType::UNIFORM, 0, 1, 0.5f, 1, 0.4},
      {SRDensityType::NORMAL, 0.1f, 0.5f, -0.4f, 0.3f, normal_below((n - 0.1) / 0.5)},
      {SRDensityType::TRUNCATED_NORMAL, 0, 1, -0.4f, 0.3f, (normal_below(n) - normal_below(a)) / (normal_below(b) - normal_below(a))},
      {SRDensityType::LAPLACE, 0, 0.2f, -0.4f, 0.3f, laplace(n)},
      {SRDensityType::TRUNCATED_LAPLACE, 0, 0.2f, -0.4f, 0.3f, (laplace(n) - laplace(a)) / (laplace(b) - laplace(a))},
      {SRDensityType::LOGISTIC, 0, 0.2f, -0.4f, 0.3f, logistic(n)},
      {SRDensityType::TRUNCATED_LOGISTIC, 0, 0.2f, -0.4f, 0.3f, (logistic(n) - logistic(a)) / (logistic(b) - logistic(a))},
      {SRDensityType::LOGIT_NORMAL, 0, 1, 0.1f, 0.9f, logit(0.7)},
      {SRDensityType::TRUNCATED_LOGIT_NORMAL, 0, 1, 0.1f, 0.9f, (logit(0.7) - logit(0.1)) / (logit(0.9) - logit(0.1))},
      {SRDensityType::BERNOULLI, 0, 1, 0, 1, 0.35},
      {SRDensityType::NORMAL, 0, 1, 0.25f, 0.3f, 0},
      {SRDensityType::NORMAL, 0, 1, -0.2f, 0.1f, 1}};
  const FormatConfig f(3, 5, 15, true, true, SpecType::FP32);
  constexpr std::size_t kSamples = 20000;
  const Operand x = operand("x", FLOAT, {kSamples}, [](std::size_t i) { return i % 2 ? -(1 + 0.125 * 0.3) : 1 + 0.125 * 0.3; });
  const auto share_down = [&](const RoundConfig& rounding) {
    const auto out = converted(GfloatCast(f, rounding, true, SpecType::FP32), x);
    double down = 0;
    for (std::size_t i = 0; i < kSamples; ++i) {
      EXPECT_TRUE(std::fabs(out[0][i]) == 1 || std::fabs(out[0][i]) == 1.125) << out[0][i];
      down += std::fabs(out[0][i]) == 1;
    }
    return down / kSamples;
  };
  for (const Row& row : rows)
    EXPECT_NEAR(share_down(RoundConfig(RoundType::SX, 20, FLOAT, row.density, row.offset, row.scale, row.max, row.min, 0.35f)), row.down,
                0.02)
        << static_cast<int>(row.density);
  EXPECT_NEAR(share_down(RoundConfig(RoundType::SR, 23, FLOAT)), 0.7, 0.02);
  // What the format has stays what it is.
  const auto exact =
      converted(GfloatCast(f, RoundConfig(RoundType::SX, 20, FLOAT, SRDensityType::BERNOULLI, 0, 1, 1, 0, 0.0f), true, SpecType::FP32),
                floats({1.125, -3, 0}));
  expect_close(exact[0], {1.125, -3, 0}, Tolerance{});
}

TEST(Gfloat, WhatDoesNotFitIsRejected) {
  const FormatConfig wide(10, 8, 127, true, true), eight(3, 4, 7, true, true);
  EXPECT_EQ(wide.getStorageType(), FLOAT);
  EXPECT_TRUE(cast_of(wide, RoundType::RN, SpecType::AUTO).getStoreAsNative());
  EXPECT_THROW(FormatConfig(24, 5, 15, true, true), poputil::poplibs_error);
  EXPECT_THROW(FormatConfig(0, 0, 15, true, true), poputil::poplibs_error);
  EXPECT_THROW(FormatConfig(11, 4, 15, true, true, SpecType::FP16), poputil::poplibs_error);
  EXPECT_THROW(FormatConfig(3, 4, 7, true, true, SpecType::INT8), poputil::poplibs_error);
  EXPECT_THROW(FormatConfig(3, 4, 7, true, true, INT), poputil::poplibs_error);
  EXPECT_THROW(cast_of(wide, RoundType::RN, SpecType::INT16), poputil::poplibs_error);
  EXPECT_THROW(cast_of(eight, RoundType::RN, SpecType::INT32), poputil::poplibs_error);
  EXPECT_THROW(GfloatCast(eight, RoundConfig(RoundType::RN, 23, HALF), true, SpecType::AUTO, SpecType::INT8), poputil::poplibs_error);
  EXPECT_THROW(CastConfig::createCastNativeToGF(FormatType::INVALID_FORMAT, FLOAT, FLOAT, RoundConfig(), true), poputil::poplibs_error);
  EXPECT_THROW(CastConfig::createCastNativeToGF(FormatType::BFLOAT16, INT, FLOAT, RoundConfig(), true), poputil::poplibs_error);
  EXPECT_THROW(cast_of(eight, RoundType::RN, SpecType::AUTO).getCastOpParams(), poputil::poplibs_error);
  EXPECT_THROW(cast_of(FormatConfig(10, 5, 15, true, true), RoundType::RN, SpecType::INT8), poputil::poplibs_error);
  EXPECT_THROW(RoundConfig(RoundType::SX, 23, FLOAT, SRDensityType::NORMAL, 0, 1, -1, 1), poputil::poplibs_error);
  EXPECT_THROW(RoundConfig(RoundType::SR, 0, FLOAT), poputil::poplibs_error);
  const Operand x = operand("x", INT, {4}, integers(0, 4, 1)), y = floats({1, 2});
  EXPECT_THROW(converted(cast_of(eight, RoundType::RN, SpecType::AUTO), x), poputil::poplibs_error);
  const auto unpack = [&](SpecType storage) {
    run(Machine::ipu1, {y}, [&](Graph& g, Tensors& in, Sequence& prog) {
      addCodelets(g);
      return Tensors{cast_of(eight, RoundType::RN, storage).castGfloatToNative(g, in[0], prog)};
    });
  };
  const auto rejected = [&](const std::function<void(Graph&, Tensor&, Sequence&)>& call) {
    EXPECT_THROW(run(Machine::ipu1, {y},
                     [&](Graph& g, Tensors& in, Sequence& prog) {
                       addCodelets(g);
                       call(g, in[0], prog);
                       return in;
                     }),
                 poputil::poplibs_error);
  };
  const CastConfig config = cast_of(eight, RoundType::RN, SpecType::AUTO).getNativeToGFConfig();
  rejected([&](Graph& g, Tensor& in, Sequence& prog) { GfloatCast::castNativeToGfloat(g, in, in, prog, config); });  // no parameters
  rejected([&](Graph& g, Tensor&, Sequence& prog) { GfloatCast::createCastOpParamsTensor(g, prog, INT, 0); });
  rejected([&](Graph& g, Tensor& in, Sequence& prog) { GfloatCast::createCastOpParamsTensor(g, prog, FLOAT, in); });
  rejected([&](Graph& g, Tensor& in, Sequence& prog) { cast_of(eight, RoundType::INV, SpecType::AUTO).castNativeToGfloat(g, in, prog); });
  rejected([&](Graph& g, Tensor& in, Sequence& prog) {
    cast_of(eight, RoundType::RN, SpecType::AUTO).castNativeToGfloatInPlace(g, in.broadcast(2, 0), prog);
  });
  EXPECT_THROW(unpack(SpecType::AUTO), poputil::poplibs_error);
  EXPECT_THROW(unpack(SpecType::FP32), poputil::poplibs_error);
}

// The static functions, the object's, and those of compute sets give the same; the format comes from a tensor that the program writes.
TEST(Gfloat, FormatsFromTensors) {
  const FormatConfig f(3, 4, 7, true, true);
  const GfloatCast cast = cast_of(f, RoundType::RN, SpecType::AUTO);
  const Operand x = operand("x", HALF, {50}, uniform(-9, 9, 2)),
                packed = operand("packed", INT, {1}, [&](std::size_t) { return static_cast<int>(f.getPackedFloatParameters()); });
  const auto out = run(Machine::ipu1, {x, packed}, [&](Graph& g, Tensors& in, Sequence& prog) {
    addCodelets(g);
    const CastConfig to = cast.getNativeToGFConfig(), back = cast.getGFToNativeConfig();
    GfloatCast own = cast, without = cast, given = cast;
    own.createCastOpParamsTensor(g, prog);
    given.setGfloatCastParameters(new Tensor(own.getCastOpParams()));
    EXPECT_TRUE(own.isCastOpParamSet() && given.isCastOpParamSet() && GfloatCast(own).isCastOpParamSet());
    EXPECT_FALSE(without.isCastOpParamSet());
    const ComputeSet cs = g.addComputeSet("params");
    const Tensor params[] = {GfloatCast::createCastOpParamsTensor(g, prog, HALF, in[1]),
                             GfloatCast::createCastOpParamsTensor(g, prog, HALF, f.getPackedFloatParameters()),
                             GfloatCast::createCastOpParamsTensor(g, cs, HALF, in[1].reinterpret(UNSIGNED_INT)),
                             GfloatCast::createCastOpParamsTensor(g, cs, HALF, f.getPackedFloatParameters())};
    prog.add(program::Execute(cs));
    Tensors results = {own.castNativeToGfloat(g, in[0], prog), without.castNativeToGfloat(g, in[0], prog),
                       given.castNativeToGfloat(g, in[0], prog)};
    for (const Tensor& p : params) results.push_back(GfloatCast::castNativeToGfloat(g, in[0], p, prog, to));
    results.push_back(own.castGfloatToNative(g, results[0], prog));
    results.push_back(GfloatCast::castGfloatToNative(g, results[0], params[0], prog, back));
    const ComputeSet first = g.addComputeSet("first"), second = g.addComputeSet("second");
    results.push_back(GfloatCast::castGfloatToNative(g, results[0], params[0], first, back));
    results.push_back(own.castGfloatToNative(g, results[0], first));
    results.push_back(GfloatCast::castNativeToGfloat(g, in[0], params[0], first, to));  // not packed: HALF
    prog.add(program::Execute(first));
    prog.add(program::Execute(second));
    return results;
  });
  const std::vector<double> grid = grid_of(f);
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(in_format(x[i], f, grid, RoundType::RN));
  for (std::size_t i = 1; i < 7; ++i) {
    EXPECT_EQ(out[i].type, CHAR);
    for (std::size_t k = 0; k < x.size(); ++k) ASSERT_EQ(out[i][k], out[0][k]) << i << " " << k;
  }
  for (std::size_t i = 7; i < out.size(); ++i) {
    EXPECT_EQ(out[i].type, HALF);
    expect_close(out[i], expected, Tolerance{}, std::to_string(i));
  }
}

TEST(Gfloat, InPlace) {
  for (const Type& type : {FLOAT, HALF})
    for (const Mapping mapping : kMappings) {
      const Operand x = operand("x", type, {7, 30}, uniform(-9, 9, 2), mapping);
      const FormatConfig f(3, 4, 7, true, true, type);
      const std::vector<double> grid = grid_of(f);
      std::vector<double> expected;
      for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(in_format(x[i], f, grid, RoundType::RZ));
      for (const int form : {0, 1, 2, 3}) {
        const auto out = run(Machine::ipu1, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
          addCodelets(g);
          GfloatCast cast = cast_of(f, RoundType::RZ, SpecType::FP16);
          EXPECT_EQ(cast.inPlaceOp(type), type == HALF);
          cast.createCastOpParamsTensor(g, prog);
          const ComputeSet cs = g.addComputeSet("cast");
          if (form == 0) cast.castNativeToGfloatInPlace(g, in[0], prog);
          if (form == 1) cast.castNativeToGfloatInPlace(g, in[0], cs);
          if (form == 2) GfloatCast::castNativeToGfloatInPlace(g, in[0], cast.getCastOpParams(), prog, cast.getNativeToGFConfig());
          if (form == 3) GfloatCast::castNativeToGfloatInPlace(g, in[0], cast.getCastOpParams(), cs, cast.getNativeToGFConfig());
          prog.add(program::Execute(cs));
          return Tensors{in[0]};
        });
        expect_close(out[0], expected, Tolerance{}, type.toString() + " " + name_of(mapping) + " " + std::to_string(form));
      }
    }
}

// What is documented of formats: their types and storage.
TEST(Gfloat, KindsOfFormats) {
  struct Row {
    unsigned mantissa, exponent;
    bool denormals, infinities;
    SpecType arithmetic;
    FormatType type;
    Type calculation, native, storage;
    unsigned bits;
  };
  const std::vector<Row> rows = {{10, 5, true, true, SpecType::AUTO, FormatType::IEEE_FP16, FLOAT, HALF, HALF, 16},
                                 {8, 5, true, true, SpecType::AUTO, FormatType::QUANTISED_FP16, HALF, HALF, HALF, 16},
                                 {3, 4, true, true, SpecType::AUTO, FormatType::MIN_NORM_ALIGN_GF8, HALF, HALF, CHAR, 8},
                                 {2, 5, true, true, SpecType::AUTO, FormatType::ONE_FIVE_TWO_GF8, HALF, HALF, CHAR, 8},
                                 {2, 5, true, false, SpecType::AUTO, FormatType::MAX_NORM_ALIGN_GF8, HALF, HALF, CHAR, 8},
                                 {3, 4, true, true, SpecType::FP32, FormatType::ENABLE_DENORM_GF16, FLOAT, HALF, CHAR, 8},
                                 {7, 8, false, true, SpecType::AUTO, FormatType::BFLOAT16, FLOAT, FLOAT, SHORT, 16},
                                 {9, 6, false, true, SpecType::AUTO, FormatType::NO_DENORM_GF16, FLOAT, FLOAT, SHORT, 16},
                                 {9, 6, true, true, SpecType::AUTO, FormatType::ENABLE_DENORM_GF16, FLOAT, FLOAT, SHORT, 16},
                                 {13, 8, true, true, SpecType::AUTO, FormatType::QUANTISED_FP32, FLOAT, FLOAT, FLOAT, 32}};
  for (const Row& row : rows) {
    const int bias = (1 << (row.exponent - 1)) - 1;
    const FormatConfig f(row.mantissa, row.exponent, bias, row.denormals, row.infinities, row.arithmetic);
    EXPECT_EQ(formatTypeToString(f.getFormatType()), formatTypeToString(row.type));
    EXPECT_EQ(f.getCalculationType(), row.calculation) << row.mantissa;
    EXPECT_EQ(f.getNativeType(), row.native) << row.mantissa;
    EXPECT_EQ(f.getStorageType(), row.storage) << row.mantissa;
    EXPECT_EQ(f.getPackedFloatBits(), row.bits) << row.mantissa;
    EXPECT_EQ(f.isPackedFloatFormat(), row.storage == CHAR || row.storage == SHORT) << row.mantissa;
    EXPECT_EQ(f.getPackedFloatParameters(), row.mantissa | row.exponent << 8 | static_cast<unsigned>(bias) << 16 |
                                                (row.denormals ? 1u << 24 : 0) | (row.infinities ? 1u << 25 : 0));
    EXPECT_TRUE(f == FormatConfig(row.mantissa, row.exponent, bias, row.denormals, row.infinities, row.calculation));
    EXPECT_FALSE(f == FormatConfig(row.mantissa, row.exponent, bias + 1, row.denormals, row.infinities, row.calculation));
  }
  EXPECT_TRUE(FormatConfig() == FormatConfig(10, 5, 15, true, true, FLOAT));
  EXPECT_FALSE(FormatConfig(7, 0, 1, true, true).infAndNansEnabled());
  EXPECT_TRUE(FormatConfig(7, 0, 1, true, true).isBlockFloat() && FormatConfig(5, 1, 1, true, true).isBlockFloat());
  EXPECT_FALSE(FormatConfig(5, 1, 1, true, false).isBlockFloat());
}

TEST(Gfloat, OptionsByName) {
  const GfloatCast::GfloatFormatOptions format({{"numMantissaBits", "3"}, {"numExponentBits", "4"}, {"numExponentBias", "7"}});
  const GfloatCast::GfloatCastOptions rounding({{"roundMode", "SX"},
                                                {"srNoiseDensity", "TRUNCATED_LAPLACE"},
                                                {"numSRBits", "7"},
                                                {"srNoiseScale", "0.5"},
                                                {"srNoiseMin", "-0.25"},
                                                {"srNoiseMax", "0.25"},
                                                {"enableNanooMode", "false"}});
  const GfloatCast cast(format, rounding, HALF);
  EXPECT_TRUE(cast.getFormatConfig() == FormatConfig(3, 4, 7, true, true, HALF));
  EXPECT_EQ(cast.getRoundMode(), RoundType::SX);
  EXPECT_FALSE(cast.isNanooModeEnabled());
  const CastConfig config = cast.getNativeToGFConfig();
  EXPECT_EQ(srDensityTypeToString(config.getSRNoiseDensity()), "TRUNCATED_LAPLACE");
  EXPECT_EQ(config.getNumSRBits(), 7u);
  EXPECT_EQ(cast.getSRBitMask(), std::vector<unsigned>(2, 0xfff8fff8));
  const float noise[] = {0, 0.5f, -0.25f, 0.25f};
  std::vector<unsigned> bits(4);
  std::memcpy(bits.data(), noise, sizeof noise);
  EXPECT_EQ(config.getNoiseParams(), bits);
  EXPECT_EQ(cast.getRoundingParams().size(), 7u);
  EXPECT_EQ(config.getCastParams().back(), 0u);
  EXPECT_EQ(RoundConfig(RoundType::RN, 20, FLOAT).getRoundingParams(), std::vector<unsigned>(2, 0xfffffff8));
  EXPECT_EQ(RoundConfig(RoundType::SX, 20, FLOAT, SRDensityType::BERNOULLI, 0, 0, 0, 0, 0.25f).getDensityParam(), 49152u);
  EXPECT_THROW(GfloatCast::GfloatFormatOptions({{"mantissa", "3"}}), invalid_option);
  EXPECT_THROW(GfloatCast::GfloatCastOptions({{"roundMode", "XX"}}), invalid_option);
  EXPECT_EQ(roundTypeToString(RoundType::RA) + specTypeToString(SpecType::BF16), "RABF16");
  EXPECT_EQ(poputil::templateVertex("V", RoundType::RN, SpecType::AUTO),
            "V<popfloat::experimental::RoundType::RN,popfloat::experimental::SpecType::AUTO>");
  EXPECT_EQ(specTypeToPoplarType(SpecType::INT16), SHORT);
  EXPECT_THROW(specTypeToPoplarType(SpecType::AUTO), poputil::poplibs_error);
  EXPECT_THROW(roundTypeToString(static_cast<RoundType>(77)), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
