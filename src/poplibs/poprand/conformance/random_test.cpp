// Random tensors: the same numbers on every device, with every mapping; the distributions they say; documented errors.
#include "oplib.h"

#include <algorithm>
#include <map>
#include <set>

#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using poplar::program::Sequence;

Operand seed_operand(unsigned a = 42, unsigned b = 1234567) {
  return operand("seed", UNSIGNED_INT, {2}, [=](std::size_t i) { return i == 0 ? a : b; }, Mapping::one);
}

using Generate = std::function<Tensor(Graph&, const Tensor* seed, unsigned modifier, const Tensor& reference, const Type&, Sequence&)>;

struct Distribution {
  std::string name;
  std::vector<Type> types;
  Generate generate;
  std::function<double(double)> cdf;  // P(x <= v)
};

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

const std::vector<Distribution>& distributions() {
  static const std::vector<Distribution> all = {
      {"uniform",
       {FLOAT, HALF},
       [](Graph& g, const Tensor* s, unsigned m, const Tensor& r, const Type& t, Sequence& p) {
         return poprand::uniform(g, s, m, r, t, -2, 6, p);
       },
       [](double v) { return std::clamp((v + 2) / 8, 0.0, 1.0); }},
      {"logUniform",
       {FLOAT, HALF},
       [](Graph& g, const Tensor* s, unsigned m, const Tensor& r, const Type& t, Sequence& p) {
         return poprand::logUniform(g, s, m, r, t, 0.5, 50, p, 10);
       },
       [](double v) { return std::clamp(std::log(v / 0.5) / std::log(100.0), 0.0, 1.0); }},
      {"normal",
       {FLOAT, HALF},
       [](Graph& g, const Tensor* s, unsigned m, const Tensor& r, const Type& t, Sequence& p) {
         return poprand::normal(g, s, m, r, t, 1, 3, p);
       },
       [](double v) { return normal_cdf((v - 1) / 3); }},
      {"truncatedNormal",
       {FLOAT, HALF},
       [](Graph& g, const Tensor* s, unsigned m, const Tensor& r, const Type& t, Sequence& p) {
         return poprand::truncatedNormal(g, s, m, r, t, 1, 3, 2, p);
       },
       [](double v) {
         const double low = normal_cdf(-2), high = normal_cdf(2);
         return std::clamp((normal_cdf((v - 1) / 3) - low) / (high - low), 0.0, 1.0);
       }},
  };
  return all;
}

Values generated(Machine machine, const Distribution& d, const Type& type, std::size_t n, unsigned modifier, Mapping mapping) {
  const Operand reference = operand("reference", FLOAT, {n / 10, 10}, [](std::size_t) { return 0; }, mapping);
  return run(machine, {seed_operand(), reference}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    return std::vector<Tensor>{d.generate(g, &in[0], modifier, in[1], type, prog)};
  })[0];
}

TEST(Random, TheSameNumbersOnEveryDeviceWithEveryMapping) {
  for (const Distribution& d : distributions())
    for (const Type& type : d.types) {
      const Values first = generated(Machine::cpu, d, type, 1230, 7, Mapping::linear);
      ASSERT_EQ(first.shape, (std::vector<std::size_t>{123, 10}));
      for (const Machine machine : kMachines)
        for (const Mapping mapping : kMappings)
          EXPECT_EQ(generated(machine, d, type, 1230, 7, mapping).values, first.values)
              << d.name << ' ' << type << ' ' << name_of(machine) << ' ' << name_of(mapping);
      EXPECT_NE(generated(Machine::cpu, d, type, 1230, 8, Mapping::linear).values, first.values) << d.name;
    }
}

TEST(Random, TheDistributionsAreWhatTheySay) {
  constexpr std::size_t n = 100000;
  for (const Distribution& d : distributions())
    for (const Type& type : d.types) {
      std::vector<double> x = generated(Machine::ipu1, d, type, n, 3, Mapping::linear).values;
      std::sort(x.begin(), x.end());
      double worst = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double f = d.cdf(x[i]);
        if (i + 1 == n || x[i + 1] != x[i]) worst = std::max(worst, f - static_cast<double>(i + 1) / n);
        worst = std::max(worst, static_cast<double>(i + 1) / n - f);
      }
      // Values in half stand for an interval of up to 2^-11 of themselves.
      EXPECT_LT(worst, 1.95 / std::sqrt(static_cast<double>(n)) + (type == HALF ? 2e-3 : 0)) << d.name << ' ' << type;
    }
}

TEST(Random, NeighboursAndCallsAreIndependent) {
  constexpr std::size_t n = 100000;
  const Distribution& normal = distributions()[2];
  const std::vector<double> a = generated(Machine::ipu1, normal, FLOAT, n, 1, Mapping::linear).values;
  const std::vector<double> b = generated(Machine::ipu1, normal, FLOAT, n, 2, Mapping::linear).values;
  const auto correlation = [&](const std::vector<double>& x, const std::vector<double>& y, std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < n; ++i) sum += (x[i] - 1) / 3 * ((y[i + lag] - 1) / 3);
    return sum / static_cast<double>(n - lag);
  };
  const double limit = 4 / std::sqrt(static_cast<double>(n));
  for (const std::size_t lag : {1, 2, 3, 4, 7, 64, 6250}) EXPECT_LT(std::abs(correlation(a, a, lag)), limit) << lag;
  for (const std::size_t lag : {0, 1, 2}) EXPECT_LT(std::abs(correlation(a, b, lag)), limit) << lag;
}

TEST(Random, IntegersAreEquallyLikely) {
  constexpr std::size_t n = 70000;
  for (const Machine machine : kMachines) {
    const Operand reference = operand("reference", FLOAT, {n}, [](std::size_t) { return 0; });
    const auto out = run(machine, {seed_operand(), reference}, [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      return std::vector<Tensor>{poprand::uniform(g, &in[0], 0, in[1], INT, -3, 3, prog),
                                 poprand::uniform(g, &in[0], 1, in[1], INT, -2147483648.0, 2147483647.0, prog),
                                 poprand::logUniform(g, &in[0], 2, in[1], INT, 1, 1000, prog)};
    });
    std::map<double, double> counts;
    for (const double v : out[0].values) ++counts[v];
    ASSERT_EQ(counts.size(), 7u);
    double chi = 0;
    for (const auto& [value, count] : counts) chi += (count - n / 7.0) * (count - n / 7.0) / (n / 7.0);
    EXPECT_LT(chi, 22.5);  // 6 degrees of freedom, one in a thousand
    EXPECT_EQ(counts.begin()->first, -3);
    double negative = 0;
    for (const double v : out[1].values) negative += v < 0;
    EXPECT_NEAR(negative / n, 0.5, 0.01);
    for (const double v : out[2].values) ASSERT_TRUE(v >= 1 && v <= 1000 && v == std::floor(v));
  }
}

TEST(Random, BernoulliHitsItsProbability) {
  constexpr std::size_t n = 50000;
  for (const Type& type : {FLOAT, HALF, INT})
    for (const double p : {0.0, 0.3, 0.9, 1.0}) {
      const Operand reference = operand("reference", FLOAT, {n}, [](std::size_t) { return 0; });
      const auto out = run(Machine::ipu2, {seed_operand(), reference}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poprand::bernoulli(g, &in[0], 0, in[1], type, p, prog)};
      });
      double sum = 0;
      for (const double v : out[0].values) {
        ASSERT_TRUE(v == 0 || v == 1);
        sum += v;
      }
      EXPECT_NEAR(sum / n, p, 4 * std::sqrt(p * (1 - p) / n)) << p;
    }
}

TEST(Random, DropoutKeepsScalesAndRepeats) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF}) {
      const Operand x = operand("x", type, {30, 40}, uniform(1, 2, 3), Mapping::views),
                    gradient = operand("g", type, {30, 40}, uniform(1, 2, 4), Mapping::scattered);
      const auto out = run(machine, {seed_operand(), x, gradient}, [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poprand::dropout(g, &in[0], 5, in[1], in[1], 0.75, 4.0 / 3, prog),
                                   poprand::dropout(g, &in[0], 5, in[2], in[1], 0.75, 4.0 / 3, false, prog)};
      });
      std::size_t kept = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const bool is_kept = out[0][i] != 0;
        kept += is_kept;
        EXPECT_NEAR(out[0][i], is_kept ? x[i] * 4 / 3 : 0, 3e-3);
        EXPECT_NEAR(out[1][i], is_kept ? gradient[i] * 4 / 3 : 0, 3e-3) << "the backward pass has another mask at " << i;
      }
      EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(x.size()), 0.75, 0.05);
    }
}

TEST(Random, ShapedDropoutDropsGroups) {
  const Operand x = operand("x", FLOAT, {50, 8, 4}, uniform(1, 2, 3)),
                reference = operand("r", FLOAT, {50, 1, 4}, [](std::size_t) { return 0; });
  const auto out = run(Machine::ipu1, {seed_operand(), x, reference}, [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    return std::vector<Tensor>{poprand::shapedDropout(g, &in[0], 5, in[1], in[2], 0.5, 2, prog)};
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_kept = out[0][i * 32 + k] != 0;
      kept += is_kept;
      for (std::size_t j = 0; j < 8; ++j)
        EXPECT_FLOAT_EQ(static_cast<float>(out[0][i * 32 + j * 4 + k]), static_cast<float>(is_kept ? 2 * x[i * 32 + j * 4 + k] : 0));
    }
  EXPECT_NEAR(static_cast<double>(kept) / 200, 0.5, 0.15);
}

// Without a seed the graph's generator moves on; setSeed starts it again.
TEST(Random, WithoutASeedCallsDifferAndRunsRepeat) {
  for (const Machine machine : kMachines) {
    const Operand reference = operand("reference", FLOAT, {100}, [](std::size_t) { return 0; }, Mapping::scattered);
    const auto build = [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      std::vector<Tensor> out;
      for (const unsigned modifier : {0, 0, 1}) {
        poprand::setSeed(g, in[0], modifier, prog);
        out.push_back(poprand::uniform(g, nullptr, 0, in[1], FLOAT, 0, 1, prog));
        out.push_back(poprand::uniform(g, nullptr, 0, in[1], FLOAT, 0, 1, prog));
      }
      return out;
    };
    const auto out = run(machine, {seed_operand(), reference}, build);
    EXPECT_NE(out[0].values, out[1].values);
    EXPECT_EQ(out[0].values, out[2].values);
    EXPECT_EQ(out[1].values, out[3].values);
    EXPECT_NE(out[0].values, out[4].values);
    EXPECT_EQ(out[5].values, run(Machine::cpu, {seed_operand(), reference}, build)[5].values);
    EXPECT_NE(out[0].values, run(machine, {seed_operand(43), reference}, build)[0].values);
  }
}

// Every generator by every type. setSeed is exempt: it writes the seed alone.
TEST(Random, AllTilesWork) {
  constexpr std::size_t kMany = 100000;
  const std::vector<Type> real = {FLOAT, HALF}, words = {FLOAT, HALF, INT};
  const auto seed = [](Graph& g) { return linear(g, UNSIGNED_INT, {2}); };
  std::vector<ShareRow> rows;
  for (const Distribution& d : distributions())
    rows.push_back({d.name, d.name == "uniform" || d.name == "logUniform" ? words : d.types, [&](Graph& g, const Type& t, Sequence& p) {
                      const Tensor s = seed(g);
                      d.generate(g, &s, 0, linear(g, FLOAT, {kMany}), t, p);
                    }});
  rows.push_back({"bernoulli", words, [&](Graph& g, const Type& t, Sequence& p) {
                    const Tensor s = seed(g);
                    poprand::bernoulli(g, &s, 0, linear(g, FLOAT, {kMany}), t, 0.5, p);
                  }});
  rows.push_back({"dropout", real, [&](Graph& g, const Type& t, Sequence& p) {
                    const Tensor s = seed(g);
                    poprand::dropout(g, &s, 0, linear(g, t, {kMany}), linear(g, t, {kMany}), 0.5, 2, p);
                  }});
  rows.push_back({"shapedDropout", real, [&](Graph& g, const Type& t, Sequence& p) {
                    const Tensor s = seed(g);
                    poprand::shapedDropout(g, &s, 0, linear(g, t, {1000, 100}), linear(g, t, {1000, 1}), 0.5, 2, p);
                  }});
  expect_shares(rows);
}

TEST(Random, EmptyTensors) {
  const Operand reference = operand("reference", FLOAT, {0, 3}, [](std::size_t) { return 0; });
  for (const Distribution& d : distributions())
    EXPECT_EQ(run(Machine::ipu1, {seed_operand(), reference},
                  [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                    return std::vector<Tensor>{d.generate(g, &in[0], 0, in[1], FLOAT, prog)};
                  })[0]
                  .size(),
              0u);
}

TEST(Random, ErrorsAreDocumented) {
  const Device device = device_of(Machine::ipu1);
  Graph g(device.getTarget());
  poprand::addCodelets(g);
  Sequence prog;
  const auto variable = [&](const Type& type, std::vector<std::size_t> shape) {
    const Tensor t = g.addVariable(type, shape, "t");
    g.setTileMapping(t, 0);
    return t;
  };
  const Tensor seed = variable(UNSIGNED_INT, {2}), wide = variable(UNSIGNED_INT, {3}), typed = variable(INT, {2}),
               x = variable(FLOAT, {4, 5}), i = variable(INT, {4, 5});
  using poputil::poplibs_error;
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const poplibs_error& e) { return e.what(); }
    return "nothing thrown";
  };
  using testing::HasSubstr;
  EXPECT_THAT(message([&] { poprand::normal(g, &wide, 0, x, FLOAT, 0, 1, prog); }), HasSubstr("poprand::normal: the seed is"));
  EXPECT_THAT(message([&] { poprand::uniform(g, &typed, 0, x, FLOAT, 0, 1, prog); }), HasSubstr("expected unsigned int {2}"));
  EXPECT_THAT(message([&] { poprand::setSeed(g, typed, 0, prog); }), HasSubstr("poprand::setSeed"));
  EXPECT_THAT(message([&] { poprand::normal(g, &seed, 0, x, INT, 0, 1, prog); }),
              HasSubstr("the output type is int, expected one of float, half"));
  EXPECT_THAT(message([&] { poprand::normal(g, &seed, 0, x, FLOAT, 0, -1, prog); }), HasSubstr("standard deviation -1"));
  EXPECT_THAT(message([&] { poprand::truncatedNormal(g, &seed, 0, x, FLOAT, 0, 1, 0, prog); }), HasSubstr("alpha is 0"));
  EXPECT_THAT(message([&] { poprand::uniform(g, &seed, 0, x, FLOAT, 1, 0, prog); }), HasSubstr("[1, 0]"));
  EXPECT_THAT(message([&] { poprand::uniform(g, &seed, 0, x, INT, 0.2, 0.8, prog); }), HasSubstr("no int lies in"));
  EXPECT_THAT(message([&] { poprand::logUniform(g, &seed, 0, x, FLOAT, 0, 1, prog); }), HasSubstr("least value is 0"));
  EXPECT_THAT(message([&] { poprand::logUniform(g, &seed, 0, x, FLOAT, 1, 2, prog, 1.0); }), HasSubstr("base is 1"));
  EXPECT_THAT(message([&] { poprand::bernoulli(g, &seed, 0, x, FLOAT, 1.5, prog); }), HasSubstr("the probability is 1.5"));
  EXPECT_THAT(message([&] { poprand::dropout(g, &seed, 0, x, x, 0, 1, prog); }), HasSubstr("the probability to keep is 0"));
  EXPECT_THAT(message([&] { poprand::dropout(g, &seed, 0, x, x.flatten(), 0.5, 1, prog); }), HasSubstr("the input has shape"));
  EXPECT_THAT(message([&] { poprand::dropout(g, &seed, 0, i, i, 0.5, 1, prog); }), HasSubstr("the output type is int"));
  EXPECT_THAT(message([&] { poprand::dropout(g, &seed, 0, x, x, 0.5, std::nan(""), prog); }), HasSubstr("the scale is nan"));
  EXPECT_THAT(message([&] { poprand::shapedDropout(g, &seed, 0, x, variable(FLOAT, {3, 1}), 0.5, 1, prog); }),
              HasSubstr("cannot be broadcast"));
}

}  // namespace
}  // namespace oplib
