// The parts of normalisation against plain loops: shapes x type x machine.
#include <poplin/Norms.hpp>
#include <poputil/exceptions.hpp>

#include <cfenv>

#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplar::program::Sequence;

using Shape = std::vector<std::size_t>;
const std::vector<Shape> kShapes = {{4, 3}, {2, 5, 7}, {3, 8, 4, 3}, {1, 1, 1}, {2, 3, 2, 3, 2}};

constexpr double kEps = 1e-3;

std::size_t field_of(const Shape& s) {
  std::size_t n = 1;
  for (std::size_t d = 2; d < s.size(); ++d) n *= s[d];
  return n;
}
std::size_t channel_of(const Shape& s, std::size_t i) { return i / field_of(s) % s[1]; }
double count(const Shape& s) { return static_cast<double>(s[0] * field_of(s)); }

// Of each channel.
std::vector<double> sums(const Shape& s, const std::function<double(std::size_t)>& value) {
  std::vector<double> out(s[1], 0);
  for (std::size_t i = 0; i < s[0] * s[1] * field_of(s); ++i) out[channel_of(s, i)] += value(i);
  return out;
}

struct Statistics {
  std::vector<double> mean, inverse;
};

Statistics statistics(const Shape& s, const std::vector<double>& x, bool unbiased) {
  Statistics st;
  st.mean = sums(s, [&](std::size_t i) { return x[i] / count(s); });
  const double n = unbiased && count(s) > 1 ? count(s) - 1 : count(s);
  st.inverse = sums(s, [&](std::size_t i) { return (x[i] - st.mean[channel_of(s, i)]) * (x[i] - st.mean[channel_of(s, i)]) / n; });
  for (double& v : st.inverse) v = 1 / std::sqrt(v + kEps);
  return st;
}

Tolerance loose(const Type& type) { return type == FLOAT ? Tolerance{2e-5, 2e-5} : Tolerance{6e-3, 6e-3}; }

std::vector<double> each(const Shape& s, const std::function<double(std::size_t, std::size_t)>& value) {
  std::vector<double> out;
  for (std::size_t i = 0; i < s[0] * s[1] * field_of(s); ++i) out.push_back(value(i, channel_of(s, i)));
  return out;
}

TEST(Norms, Statistics) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Shape& s : kShapes)
        for (const bool unbiased : {false, true})
          for (const bool stable : {false, true}) {
            const Operand x = operand("x", type, s, uniform(-1, 3, 5));
            const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              const auto both = poplin::normStatistics(g, in[0], kEps, prog, unbiased, stable);
              return std::vector<Tensor>{both.first, both.second};
            });
            const Statistics expected = statistics(s, x.values, unbiased);
            EXPECT_EQ(out[0].shape, Shape{s[1]});
            EXPECT_EQ(out[0].type, type);
            expect_close(out[0], expected.mean, loose(type), "mean");
            expect_close(out[1], expected.inverse, loose(type), "inverse deviation");
          }
}

// Of nothing the mean and the variance are 0; building that divides nothing by zero.
TEST(Norms, StatisticsOfNothing) {
  for (const Shape& s : {Shape{2, 3, 0}, Shape{0, 3, 4}, Shape{2, 0, 4}})
    for (const bool stable : {false, true}) {
      std::feclearexcept(FE_ALL_EXCEPT);
      const auto out = run(Machine::ipu1, {operand("x", FLOAT, s, [](std::size_t) { return 0.0; })},
                           [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                             const auto both = poplin::normStatistics(g, in[0], 0.25f, prog, true, stable);
                             EXPECT_FALSE(std::fetestexcept(FE_DIVBYZERO));
                             return std::vector<Tensor>{both.first, both.second};
                           });
      expect_close(out[0], std::vector<double>(s[1], 0), "mean");
      expect_close(out[1], std::vector<double>(s[1], 2), "inverse deviation");
    }
}

TEST(Norms, StableStatisticsOfSmallDifferencesFromALargeMean) {
  const Shape s = {8, 2, 16};
  const Operand x = operand("x", FLOAT, s, [](std::size_t i) { return 4096 + static_cast<double>(i % 5) / 4; });
  const auto out = run(Machine::ipu1, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    return std::vector<Tensor>{poplin::normStatistics(g, in[0], kEps, prog, false, true).second};
  });
  expect_close(out[0], statistics(s, x.values, false).inverse, loose(FLOAT));
}

TEST(Norms, WhitenNormaliseAndGradients) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Shape& s : kShapes) {
        const Operand x = operand("x", type, s, uniform(-2, 2, 1)), dy = operand("dy", type, s, uniform(-1, 1, 2));
        const Operand a = operand("a", type, {s[1]}, uniform(-1, 1, 3)), b = operand("b", type, {s[1]}, uniform(0.5, 2, 4));
        const auto out = run(machine, {x, dy, a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          const auto params = poplin::normParamGradients(g, in[0], in[1], prog);
          return std::vector<Tensor>{poplin::normWhiten(g, in[0], in[2], in[3], prog),
                                     poplin::normalise(g, in[0], in[2], in[3], prog),
                                     params.first,
                                     params.second,
                                     poplin::normGradients(g, in[1], in[2], prog),
                                     poplin::normStatisticsGradients(g, in[0], in[1], in[3], prog)};
        });
        expect_close(out[0], each(s, [&](std::size_t i, std::size_t c) { return (x[i] - a[c]) * b[c]; }), loose(type), "whiten");
        expect_close(out[1], each(s, [&](std::size_t i, std::size_t c) { return x[i] * a[c] + b[c]; }), loose(type), "normalise");
        const std::vector<double> products = sums(s, [&](std::size_t i) { return x[i] * dy[i]; }),
                                  grads = sums(s, [&](std::size_t i) { return dy[i]; });
        expect_close(out[2], products, loose(type), "gamma");
        expect_close(out[3], grads, loose(type), "beta");
        expect_close(out[4], each(s, [&](std::size_t i, std::size_t c) { return dy[i] * a[c]; }), loose(type), "gradients");
        expect_close(
            out[5],
            each(s, [&](std::size_t i, std::size_t c) { return (dy[i] - grads[c] / count(s) - x[i] * products[c] / count(s)) * b[c]; }),
            loose(type), "statistics gradients");
      }
}

// Two replicas with the same data: the sums double, and so does the count.
TEST(Norms, DistributedAddsUpWithTheCallback) {
  const Shape s = {2, 3, 5};
  const Operand x = operand("x", FLOAT, s, uniform(-1, 1, 1)), dy = operand("dy", FLOAT, s, uniform(-1, 1, 2)),
                b = operand("b", FLOAT, {3}, uniform(0.5, 2, 4));
  unsigned group = 0;
  const poplin::DistributedNormReduceCallback twice = [&](Graph& g, const std::vector<Tensor>& parts, Sequence& prog, unsigned size,
                                                          const DebugContext&, const OptionFlags&) {
    group = size;
    std::vector<Tensor> out;
    for (const Tensor& t : parts) {
      const Tensor copies = concat(t.expand({0}), t.expand({0}));
      const Tensor sum = g.clone(t);
      const ComputeSet set = g.addComputeSet("twice");
      const VertexRef v = g.addVertex(set, "poplin::ConvSum<float,float>");
      g.connect(v["partials"], copies);
      g.connect(v["out"], sum);
      g.setTileMapping(v, 0);
      prog.add(program::Execute(set));
      out.push_back(sum);
    }
    return out;
  };
  const auto out = run(Machine::ipu1, {x, dy, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    const auto both = poplin::distributedNormStatistics(g, in[0], kEps, prog, false, twice, 4);
    const auto stable = poplin::distributedNormStatistics(g, in[0], kEps, prog, false, twice, 4, true);
    return std::vector<Tensor>{both.first, both.second, stable.second,
                               poplin::distributedNormStatisticsGradients(g, in[0], in[1], in[2], prog, twice, 4),
                               poplin::normStatisticsGradients(g, in[0], in[1], in[2], prog)};
  });
  EXPECT_EQ(group, 2u);
  const Statistics expected = statistics(s, x.values, false);
  expect_close(out[0], expected.mean, loose(FLOAT));
  expect_close(out[1], expected.inverse, loose(FLOAT));
  expect_close(out[2], expected.inverse, loose(FLOAT));
  expect_close(out[3], out[4].values, loose(FLOAT));
}

TEST(Norms, CreatesParametersOfEachChannel) {
  const Operand x = operand("x", HALF, {2, 6, 3}, uniform(-1, 1, 1));
  run(Machine::ipu1, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence&) {
    const auto params = poplin::createNormParams(g, in[0]);
    EXPECT_EQ(params.first.shape(), Shape{6});
    EXPECT_EQ(params.second.elementType(), HALF);
    EXPECT_EQ(poplin::createNormGamma(g, in[0], FLOAT).elementType(), FLOAT);
    return std::vector<Tensor>{};
  });
}

TEST(Norms, Errors) {
  const Operand x = operand("x", FLOAT, {2, 6, 3}, uniform(-1, 1, 1)), y = operand("y", FLOAT, {2, 6, 2}, uniform(-1, 1, 1)),
                short_one = operand("s", FLOAT, {5}, uniform(0, 1, 1)), whole = operand("i", INT, {2, 3}, integers(0, 1, 1));
  run(Machine::cpu, {x, y, short_one, whole}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    using Error = poputil::poplibs_error;
    EXPECT_THROW(poplin::normStatistics(g, in[2], 1, prog, false), Error);
    EXPECT_THROW(poplin::normStatistics(g, in[3], 1, prog, false), Error);
    EXPECT_THROW(poplin::normStatistics(g, in[0], 1, prog, false, false, INT), Error);
    EXPECT_THROW(poplin::normWhiten(g, in[0], in[2], in[2], prog), Error);
    EXPECT_THROW(poplin::normalise(g, in[0], in[2], in[2], prog), Error);
    EXPECT_THROW(poplin::normGradients(g, in[0], in[2], prog), Error);
    EXPECT_THROW(poplin::normParamGradients(g, in[0], in[1], prog), Error);
    EXPECT_THROW(poplin::normStatisticsGradients(g, in[0], in[1], in[2], prog), Error);
    EXPECT_THROW(poplin::distributedNormStatistics(g, in[0], 1, prog, false, nullptr, 3), Error);
    EXPECT_THROW(poplin::distributedNormStatistics(g, in[0], 1, prog, false, nullptr, 4), Error);
    return std::vector<Tensor>{};
  });
}

}  // namespace
