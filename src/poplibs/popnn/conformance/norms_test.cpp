// Batch, group, layer and instance norm against plain references in double. A norm of any kind is described by which statistic each element
// belongs to.
#include <poplar/exceptions.hpp>
#include <popnn/BatchNorm.hpp>
#include <popnn/GroupNorm.hpp>
#include <popnn/InstanceNorm.hpp>
#include <popnn/LayerNorm.hpp>
#include <popnn/Norms.hpp>
#include <poputil/exceptions.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Pair = std::pair<Tensor, Tensor>;
using Shape = std::vector<std::size_t>;
constexpr double kEps = 1e-3;

struct Reference {
  std::size_t channels = 0, field = 1, statistics = 0;
  std::function<std::size_t(std::size_t batch, std::size_t channel)> statistic_of;

  std::size_t channel(std::size_t i) const { return i / field % channels; }
  std::size_t statistic(std::size_t i) const { return statistic_of(i / field / channels, channel(i)); }
  std::vector<double> sums(const std::vector<double>& v, std::vector<double>& counts) const {
    std::vector<double> out(statistics, 0);
    counts.assign(statistics, 0);
    for (std::size_t i = 0; i < v.size(); ++i) out[statistic(i)] += v[i], ++counts[statistic(i)];
    return out;
  }
  void statistics_of(const std::vector<double>& x, bool unbiased, std::vector<double>& mean, std::vector<double>& deviation) const {
    std::vector<double> counts, squares(statistics, 0);
    mean = sums(x, counts);
    for (std::size_t s = 0; s < statistics; ++s) mean[s] /= counts[s];
    for (std::size_t i = 0; i < x.size(); ++i) squares[statistic(i)] += (x[i] - mean[statistic(i)]) * (x[i] - mean[statistic(i)]);
    deviation.clear();
    for (std::size_t s = 0; s < statistics; ++s)
      deviation.push_back(1 / std::sqrt(squares[s] / (counts[s] - (unbiased && counts[s] > 1 ? 1 : 0)) + kEps));
  }
  std::vector<double> whiten(const std::vector<double>& x, const std::vector<double>& mean, const std::vector<double>& deviation) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < x.size(); ++i) out.push_back((x[i] - mean[statistic(i)]) * deviation[statistic(i)]);
    return out;
  }
  std::vector<double> scale(const std::vector<double>& x, const Values& gamma, const Values& beta) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < x.size(); ++i) out.push_back(x[i] * gamma[channel(i)] + beta[channel(i)]);
    return out;
  }
  // The gradient of sum(g * normalise(x)) by finite differences, statistics included.
  std::vector<double> slopes(const std::vector<double>& x, const Values& g, const Values& gamma, const Values& beta) const {
    std::vector<double> out;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double slope = 0;
      for (const double h : {1e-4, -1e-4}) {
        std::vector<double> moved = x, mean, deviation;
        moved[i] += h;
        statistics_of(moved, false, mean, deviation);
        const auto y = scale(whiten(moved, mean, deviation), gamma, beta);
        for (std::size_t j = 0; j < y.size(); ++j) slope += g[j] * y[j] / (2 * h);
      }
      out.push_back(slope);
    }
    return out;
  }
};

// The functions of a kind of norm.
struct Kind {
  std::string name;
  std::function<Reference(const Shape&)> reference;
  std::function<Pair(Graph&, const Tensor&, Sequence&, bool unbiased, bool stable)> statistics;
  std::function<Pair(Graph&, const Tensors&, const Pair&, Sequence&)> normalise;  // acts, gradient, gamma, beta
  std::function<Tensor(Graph&, const Tensors&, const Pair&, Sequence&)> whiten;
  std::function<Tensors(Graph&, const Tensors&, const Pair&, const Tensor& whitened, Sequence&)>
      gradients;  // both forms: gamma, beta, acts
  std::function<void(Graph&, const Pair& deltas, Tensor& gamma, Tensor& beta, Sequence&)> update;
};

Reference reference_of(const Shape& shape, std::size_t statistics, const std::function<std::size_t(std::size_t, std::size_t)>& of) {
  Reference r;
  r.channels = shape[1];
  for (std::size_t i = 2; i < shape.size(); ++i) r.field *= shape[i];
  r.statistics = statistics;
  r.statistic_of = of;
  return r;
}

// The functions of a kind: batchNormStatistics, batchNormWhiten, batchNormalise ...
#define NORM_FUNCTIONS(ns, Stem, ...)                                                                                            \
  [](Graph& g, const Tensors& t, const Pair& s, Sequence& p) {                                                                   \
    return ns::Stem##alise(g, t[0], t[2], t[3], s.first, s.second, p, {} __VA_ARGS__);                                           \
  },                                                                                                                             \
      [](Graph& g, const Tensors& t, const Pair& s, Sequence& p) {                                                               \
        return ns::Stem##Whiten(g, t[0], s.first, s.second, p, {} __VA_ARGS__);                                                  \
      },                                                                                                                         \
      [](Graph& g, const Tensors& t, const Pair& s, const Tensor& w, Sequence& p) {                                              \
        const Pair a = ns::Stem##ParamGradients(g, t[0], t[1], s.first, s.second, p, FLOAT, {} __VA_ARGS__);                     \
        const Pair b = ns::Stem##ParamGradients(g, w, t[1], p, FLOAT, {} __VA_ARGS__);                                           \
        return Tensors{a.first, a.second, ns::Stem##Gradients(g, t[0], t[1], s.first, s.second, t[2], p, FLOAT, {} __VA_ARGS__), \
                       b.first, b.second, ns::Stem##Gradients(g, w, t[1], s.second, t[2], p, FLOAT, {} __VA_ARGS__)};            \
      },                                                                                                                         \
      [](Graph& g, const Pair& d, Tensor& gamma, Tensor& beta, Sequence& p) {                                                    \
        ns::Stem##ParamUpdate(g, d.first, d.second, -0.5f, gamma, beta, p, {} __VA_ARGS__);                                      \
        const Tensor scale = g.addConstant(FLOAT, {}, 2.0f);                                                                     \
        g.setTileMapping(scale, 0);                                                                                              \
        ns::Stem##ParamUpdate(g, d.first, d.second, scale, gamma, beta, p, {} __VA_ARGS__);                                      \
      }

const OptionFlags& contiguous() {
  static const OptionFlags options = {{"groupNormStridedChannelGrouping", "false"}};
  return options;
}

std::vector<Kind> kinds() {
  using namespace popnn;
  return {
      {"batch", [](const Shape& s) { return reference_of(s, s[1], [](std::size_t, std::size_t c) { return c; }); },
       [](Graph& g, const Tensor& t, Sequence& p, bool u, bool s) { return bn::batchNormStatistics(g, t, kEps, p, u, s); },
       NORM_FUNCTIONS(bn, batchNorm)},
      {"group strided",
       [](const Shape& s) { return reference_of(s, 2 * s[0], [](std::size_t b, std::size_t c) { return 2 * b + c % 2; }); },
       [](Graph& g, const Tensor& t, Sequence& p, bool u, bool s) { return gn::groupNormStatistics(g, t, kEps, p, 2, u, s); },
       NORM_FUNCTIONS(gn, groupNorm)},
      {"group",
       [](const Shape& s) { return reference_of(s, 2 * s[0], [n = s[1] / 2](std::size_t b, std::size_t c) { return 2 * b + c / n; }); },
       [](Graph& g, const Tensor& t, Sequence& p, bool u, bool s) {
         return gn::groupNormStatistics(g, t, kEps, p, 2, u, s, FLOAT, {}, contiguous());
       },
       NORM_FUNCTIONS(gn, groupNorm, , contiguous())},
      {"layer", [](const Shape& s) { return reference_of(s, s[0], [](std::size_t b, std::size_t) { return b; }); },
       [](Graph& g, const Tensor& t, Sequence& p, bool u, bool s) { return ln::layerNormStatistics(g, t, kEps, p, u, s); },
       NORM_FUNCTIONS(ln, layerNorm)},
      {"instance",
       [](const Shape& s) { return reference_of(s, s[0] * s[1], [n = s[1]](std::size_t b, std::size_t c) { return b * n + c; }); },
       [](Graph& g, const Tensor& t, Sequence& p, bool u, bool s) { return in::instanceNormStatistics(g, t, kEps, p, u, s); },
       NORM_FUNCTIONS(in, instanceNorm)},
  };
}

TEST(Norms, EveryKind) {
  for (const Kind& kind : kinds())
    for (const Type& type : {FLOAT, HALF})
      for (const Machine machine : kMachines)
        for (const Mapping mapping : kMappings)
          for (const Shape& shape : {Shape{3, 6, 4, 5}, Shape{4, 2, 3}, Shape{6, 8}}) {
            const bool field = shape.size() > 2;
            if (kind.name == "instance" && !field) continue;  // one element each
            const Operand x = operand("x", type, shape, uniform(-2, 3, 1), mapping),
                          g = operand("g", type, shape, uniform(-1, 1, 2), mapping);
            const Operand gamma = operand("gamma", type, {shape[1]}, uniform(0.5, 2, 3)),
                          beta = operand("beta", type, {shape[1]}, uniform(-1, 1, 4));
            const auto out = run(machine, {x, g, gamma, beta}, [&](Graph& graph, Tensors& in, Sequence& prog) {
              const Pair unbiased = kind.statistics(graph, in[0], prog, true, true),
                         s = kind.statistics(graph, in[0], prog, false, mapping == Mapping::one);
              const Pair n = kind.normalise(graph, in, s, prog);
              Tensors results = {s.first, s.second, unbiased.first, unbiased.second, n.first, n.second, kind.whiten(graph, in, s, prog)};
              const Tensors gradients = kind.gradients(graph, in, s, n.second, prog);
              results.insert(results.end(), gradients.begin(), gradients.end());
              Tensor new_gamma = graph.clone(in[2]), new_beta = graph.clone(in[3]);
              prog.add(program::Copy(in[2], new_gamma));
              prog.add(program::Copy(in[3], new_beta));
              kind.update(graph, {gradients[0], gradients[1]}, new_gamma, new_beta, prog);
              results.push_back(new_gamma);
              results.push_back(new_beta);
              return results;
            });
            const Reference r = kind.reference(shape);
            std::vector<double> mean, deviation, unbiased_mean, unbiased_deviation;
            r.statistics_of(x.values, false, mean, deviation);
            r.statistics_of(x.values, true, unbiased_mean, unbiased_deviation);
            const auto whitened = r.whiten(x.values, mean, deviation);
            const std::string what = kind.name + " " + name_of(machine) + " " + name_of(mapping) + " " + std::to_string(shape.size());
            const Tolerance t = type == FLOAT ? Tolerance{1e-4, 1e-4} : Tolerance{1e-2, 2e-2};
            expect_close(out[0], mean, t, "mean " + what);
            expect_close(out[1], deviation, t, "deviation " + what);
            expect_close(out[2], unbiased_mean, t, "stable mean " + what);
            expect_close(out[3], unbiased_deviation, t, "stable deviation " + what);
            expect_close(out[4], r.scale(whitened, gamma, beta), t, "normalised " + what);
            expect_close(out[5], whitened, t, "whitened " + what);
            expect_close(out[6], whitened, t, "whitened alone " + what);
            std::vector<double> d_gamma(shape[1], 0), d_beta(shape[1], 0), new_gamma, new_beta;
            for (std::size_t i = 0; i < x.size(); ++i) d_gamma[r.channel(i)] += g[i] * whitened[i], d_beta[r.channel(i)] += g[i];
            for (std::size_t c = 0; c < shape[1]; ++c) {
              new_gamma.push_back(gamma[c] + 1.5 * d_gamma[c]);
              new_beta.push_back(beta[c] + 1.5 * d_beta[c]);
            }
            const auto slopes = r.slopes(x.values, g, gamma, beta);
            const Tolerance wide = type == FLOAT ? Tolerance{2e-4, 2e-4} : Tolerance{2e-2, 5e-2};
            for (const std::size_t i : {7, 10}) {
              expect_close(out[i], d_gamma, wide, "gamma's gradient " + what);
              expect_close(out[i + 1], d_beta, wide, "beta's gradient " + what);
              expect_close(out[i + 2], slopes, wide, "gradient " + what);
            }
            expect_close(out[13], new_gamma, wide, "new gamma " + what);
            expect_close(out[14], new_beta, wide, "new beta " + what);
          }
}

// groupNorm and groupNormAllGradients: in rows on the CPU device where that is possible, or by the other functions.
TEST(Norms, InOnePass) {
  for (const Shape& shape : {Shape{40, 100}, Shape{300, 17}, Shape{5, 2}})
    for (const Machine machine : kMachines)
      for (const unsigned groups : {1u, shape[1] % 2 == 0 ? 2u : 1u})
        for (const char* rows : {"true", "false"}) {
          const Operand x = operand("x", FLOAT, shape, uniform(-2, 3, 1)), g = operand("g", FLOAT, shape, uniform(-1, 1, 2));
          const Operand gamma = operand("gamma", FLOAT, {shape[1]}, uniform(0.5, 2, 3)),
                        beta = operand("beta", FLOAT, {shape[1]}, uniform(-1, 1, 4));
          const auto out = run(machine, {x, g, gamma, beta}, [&](Graph& graph, Tensors& in, Sequence& prog) {
            const OptionFlags plain = contiguous();
            OptionFlags options = plain;
            options.set("pando.inRows", rows);
            const Pair s = popnn::gn::groupNormStatistics(graph, in[0], kEps, prog, groups, false, true, FLOAT, {}, plain);
            const Pair n = popnn::gn::groupNormalise(graph, in[0], in[2], in[3], s.first, s.second, prog, {}, plain);
            const Pair parameters = popnn::gn::groupNormParamGradients(graph, n.second, in[1], prog, FLOAT, {}, plain);
            Tensors all = {n.first,          s.first,
                           s.second,         popnn::gn::groupNormGradients(graph, n.second, in[1], s.second, in[2], prog, FLOAT, {}, plain),
                           parameters.first, parameters.second};
            const auto forward = popnn::gn::groupNorm(graph, in[0], in[2], in[3], kEps, prog, groups, {}, options);
            all.insert(all.end(), forward.begin(), forward.end());
            const auto gradients = popnn::gn::groupNormAllGradients(graph, in[0], in[1], forward[1], forward[2], in[2], prog, {}, options);
            all.insert(all.end(), gradients.begin(), gradients.end());
            return all;
          });
          const std::string what = name_of(machine) + " rows " + rows + " groups " + std::to_string(groups) + " result ";
          for (std::size_t i = 0; i < 6; ++i) expect_close(out[i + 6], out[i].values, Tolerance{1e-4, 1e-4}, what + std::to_string(i));
        }
  EXPECT_THROW(run(Machine::cpu, {operand("x", FLOAT, {4, 6}, uniform(-2, 3, 1)), operand("p", FLOAT, {6}, uniform(-2, 3, 1))},
                   [](Graph& graph, Tensors& in, Sequence& prog) {
                     return Tensors{popnn::gn::groupNorm(graph, in[0], in[1], in[1], kEps, prog, 1, {}, {{"pando.inRows", "perhaps"}})[0]};
                   }),
               poplar::invalid_option);
}

TEST(Norms, OfBatchesTakeTheOptionsOfAllKinds) {
  const auto with = [](const char* strided) {
    return run(Machine::ipu1, {operand("x", FLOAT, {2, 3, 4}, uniform(-2, 3, 1))}, [&](Graph& g, Tensors& in, Sequence& p) {
      const OptionFlags options = {{"groupNormStridedChannelGrouping", strided}};
      const auto moments = popnn::bn::batchNormStatistics(g, in[0], kEps, p, false, true, FLOAT, {}, options);
      return Tensors{moments.first, moments.second};
    });
  };
  EXPECT_EQ(with("true")[0].values, with("false")[0].values);
  EXPECT_THROW(with("perhaps"), poplar::invalid_option);
}

TEST(Norms, CombinedMultiplicand) {
  const Operand x = operand("x", FLOAT, {2, 3, 4}, uniform(-2, 3, 1)), a = operand("a", FLOAT, {3}, uniform(0.5, 2, 3)),
                b = operand("b", FLOAT, {3}, uniform(-1, 1, 4));
  const auto out = run(Machine::ipu1, {x, a, b},
                       [](Graph& g, Tensors& in, Sequence& p) { return Tensors{popnn::bn::batchNormalise(g, in[0], in[1], in[2], p)}; });
  std::vector<double> expected;
  for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(x[i] * a[i / 4 % 3] + b[i / 4 % 3]);
  expect_close(out[0], expected);
}

TEST(Norms, Distributed) {
  // Two replicas with the same activations: the sums double, and so does the number of elements; the results are those of one.
  const Operand x = operand("x", FLOAT, {3, 4, 5}, uniform(-2, 3, 1)), g = operand("g", FLOAT, {3, 4, 5}, uniform(-1, 1, 2)),
                gamma = operand("gamma", FLOAT, {4}, uniform(0.5, 2, 3));
  unsigned calls = 0;
  const auto out = run(Machine::ipu1, {x, g, gamma}, [&](Graph& graph, Tensors& in, Sequence& prog) {
    const poplin::DistributedNormReduceCallback twice = [&](Graph& graph, const Tensors& sums, Sequence& prog, unsigned groups,
                                                            const DebugContext&, const OptionFlags&) {
      EXPECT_EQ(groups, 2u);
      ++calls;
      Tensors results;
      for (const Tensor& t : sums) {
        // a sum with itself
        Tensor out = graph.clone(t), one = graph.addConstant(t.elementType(), {t.numElements()}, 1.0f),
               none = graph.addConstant(t.elementType(), {t.numElements()}, 0.0f);
        graph.setTileMapping(one, 0);
        graph.setTileMapping(none, 0);
        const Tensor doubled = popnn::bn::batchNormalise(graph, t.flatten().expand({0}), one, t.flatten(), prog);
        prog.add(program::Copy(doubled.reshape(t.shape()), out));
        results.push_back(out);
      }
      return results;
    };
    const Pair alone = popnn::bn::batchNormStatistics(graph, in[0], kEps, prog, false);
    const Pair both = popnn::bn::distributedBatchNormStatistics(graph, in[0], kEps, prog, false, twice, 6);
    const Tensor whitened = popnn::bn::batchNormWhiten(graph, in[0], both.first, both.second, prog);
    return Tensors{alone.first,
                   alone.second,
                   popnn::bn::batchNormGradients(graph, in[0], in[1], alone.first, alone.second, in[2], prog),
                   both.first,
                   both.second,
                   popnn::bn::distributedBatchNormGradients(graph, in[0], in[1], both.first, both.second, in[2], prog, twice, 6),
                   popnn::bn::distributedBatchNormGradients(graph, whitened, in[1], both.second, in[2], prog, twice, 6)};
  });
  EXPECT_GE(calls, 3u);
  for (const std::size_t i : {0, 1, 2}) expect_close(out[i + 3], out[i].values, Tolerance{1e-5, 1e-6}, std::to_string(i));
  expect_close(out[6], out[2].values, Tolerance{1e-5, 1e-6});
}

TEST(Norms, ParametersAndWork) {
  const auto out = run(Machine::ipu1, {operand("x", HALF, {2, 6, 4}, uniform(0, 1, 1))}, [](Graph& g, Tensors& in, Sequence& prog) {
    const Pair both = popnn::createNormParams(g, in[0]);
    Tensors all = {popnn::createNormGamma(g, in[0]), popnn::createNormBeta(g, in[0]), both.first, both.second};
    for (const Tensor& t : all) {
      const Tensor zero = g.addConstant(HALF, t.shape(), 0.0f);
      g.setTileMapping(zero, 0);
      prog.add(program::Copy(zero, t));
    }
    return all;
  });
  for (const Values& v : out) {
    EXPECT_EQ(v.shape, Shape{6});
    EXPECT_EQ(v.type, HALF);
  }
  EXPECT_EQ(popnn::getNormFwdFlops(10, 100), 7u * 100 + 50);
  EXPECT_EQ(popnn::getNormFwdFlops(10, 100, false), 400u);
  EXPECT_EQ(popnn::getNormBwdFlops(10, 100), 820u);
  EXPECT_EQ(popnn::getNormWuFlops(10, 100), 340u);
  EXPECT_EQ(popnn::in::getFwdFlops(10, 10, true), popnn::getNormFwdFlops(10, 100));
  EXPECT_EQ(popnn::in::getBwdFlops(10, 10), popnn::getNormBwdFlops(10, 100));
  EXPECT_EQ(popnn::in::getWuFlops(10, 10), popnn::getNormWuFlops(10, 100));
}

TEST(Norms, Errors) {
  using ::testing::HasSubstr;
  const auto error_of = [](const std::function<void(Graph&, Tensors&, Sequence&)>& f) {
    std::string message;
    run(Machine::ipu1,
        {operand("x", FLOAT, {2, 6, 4}, uniform(0, 1, 1)), operand("s", FLOAT, {5}, uniform(0, 1, 1)),
         operand("h", HALF, {5}, uniform(0, 1, 1))},
        [&](Graph& g, Tensors& in, Sequence& prog) {
          try {
            f(g, in, prog);
          } catch (const poputil::poplibs_error& e) { message = e.what(); } catch (const poplar::invalid_option& e) {
            message = std::string("option: ") + e.what();
          }
          return Tensors{};
        });
    return message;
  };
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::gn::groupNormStatistics(g, t[0], 1, p, 4, false); }),
              HasSubstr("6 channels cannot be cut into 4"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::gn::groupNormStatistics(g, t[0], 1, p, 0, false); }),
              HasSubstr("6 channels cannot be cut into 0"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::gn::groupNormStatistics(g, t[1], 1, p, 1, false); }),
              HasSubstr("expected {batch, channels"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::gn::groupNormWhiten(g, t[0], t[1], t[1], p); }),
              HasSubstr("are not those of groups"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::bn::batchNormParamUpdate(g, t[1], t[1], 1.0f, t[1], t[0], p); }),
              HasSubstr("have shapes"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::bn::batchNormParamUpdate(g, t[1], t[2], 1.0f, t[1], t[1], p); }),
              HasSubstr("differ in type"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) {
                popnn::bn::batchNormStatistics(g, t[0], 1, p, false, false, FLOAT, {}, {{"groups", "2"}});
              }),
              HasSubstr("option: "));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) {
                popnn::gn::groupNormParamGradients(g, t[0], t[0], p, FLOAT, {}, {{"groups", "2"}});
              }),
              HasSubstr("option: "));
}

}  // namespace
}  // namespace oplib
