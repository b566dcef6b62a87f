// Losses, accuracy and searches along rows against plain references in double.
#include <popnn/Loss.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <numeric>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Shape = std::vector<std::size_t>;
constexpr double kMasked = 4294967295.0;

std::string what(Machine machine, const Operand& x) {
  return name_of(machine) + " " + name_of(x.mapping) + " " + x.type.toString() + " " + std::to_string(x.shape[0]) + " x " +
         std::to_string(x.shape[1]);
}

struct Case {
  Shape shape;
  Operand outputs, expected;
  bool has_labels = true;
};

double expected_at(const Case& c, std::size_t row, std::size_t column) {
  if (!c.has_labels) return c.expected[row * c.shape[1] + column];
  return c.expected[row] == static_cast<double>(column);
}
bool is_masked(const Case& c, std::size_t row) { return c.has_labels && (c.expected[row] == kMasked || c.expected[row] == -1); }

std::vector<double> loss_of(const Case& c, bool cross_entropy, double scale) {
  std::vector<double> out(c.shape[0], 0);
  for (std::size_t r = 0; r < c.shape[0]; ++r)
    for (std::size_t i = 0; i < c.shape[1] && !is_masked(c, r); ++i) {
      const double p = c.outputs[r * c.shape[1] + i] / scale, e = expected_at(c, r, i);
      out[r] += cross_entropy ? (e != 0 ? -e * std::log(p) : 0) : (p - e) * (p - e) / 2;
    }
  return out;
}
std::vector<double> deltas_of(const Case& c, double scale, double deltas_scale) {
  std::vector<double> out(c.outputs.size(), 0);
  for (std::size_t r = 0; r < c.shape[0]; ++r)
    for (std::size_t i = 0; i < c.shape[1] && !is_masked(c, r); ++i)
      out[r * c.shape[1] + i] = deltas_scale * (c.outputs[r * c.shape[1] + i] / scale - expected_at(c, r, i));
  return out;
}
std::size_t best_of(const std::function<double(std::size_t)>& at, std::size_t n) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < n; ++i) best = at(i) > at(best) ? i : best;
  return best;
}
double correct_of(const Case& c) {
  double out = 0;
  for (std::size_t r = 0; r < c.shape[0]; ++r) {
    const std::size_t found = best_of([&](std::size_t i) { return c.outputs[r * c.shape[1] + i]; }, c.shape[1]);
    if (c.has_labels)
      out += c.expected[r] == static_cast<double>(found);
    else
      out += found == best_of([&](std::size_t i) { return expected_at(c, r, i); }, c.shape[1]);
  }
  return out;
}

Case make_case(const Type& type, const Shape& shape, const Type& expected, Mapping mapping, double scale) {
  Case c;
  c.shape = shape;
  c.has_labels = expected == INT || expected == UNSIGNED_INT;
  const auto random = uniform(0.01, 1, 3);
  c.outputs = operand("outputs", type, shape, [=](std::size_t i) { return random(i) * scale; }, mapping);
  const auto labels = integers(0, static_cast<std::int64_t>(shape[1]) - 1, 9);
  // Every seventh row is masked, every ninth has no class, and every third is what the outputs say.
  if (c.has_labels)
    c.expected = operand("expected", expected, {shape[0]}, [&](std::size_t r) {
      if (r % 7 == 6) return expected == INT ? -1 : kMasked;
      if (r % 9 == 8) return static_cast<double>(shape[1] + 3);
      if (r % 3 == 0) return static_cast<double>(best_of([&](std::size_t i) { return c.outputs[r * shape[1] + i]; }, shape[1]));
      return labels(r);
    });
  else
    c.expected = operand("expected", expected, shape, [&](std::size_t i) { return i % 3 == 0 ? 0 : uniform(0, 1, 4)(i); });
  return c;
}

TEST(Loss, EveryForm) {
  const std::vector<Shape> shapes = {{1, 1}, {5, 3}, {40, 10}, {3, 900}, {1, 3000}, {100, 7}};
  for (const Type& type : {FLOAT, HALF})
    for (const Type& expected : {UNSIGNED_INT, INT, type})
      for (const Machine machine : kMachines)
        for (const Mapping mapping : kMappings)
          for (const Shape& shape : shapes)
            for (const bool scaled : {false, true}) {
              if (mapping != Mapping::linear && shape != Shape{40, 10} && shape != Shape{3, 900}) continue;
              const double scale = scaled ? 16 : 1, deltas_scale = scaled ? 4 : 1;
              const Case c = make_case(type, shape, expected, mapping, scale);
              const Operand d = operand("d", type, {}, [&](std::size_t) { return deltas_scale; }),
                            s = operand("s", type, {1}, [&](std::size_t) { return scale; });
              const Operand l = operand("l", type, {shape[0]}, uniform(0, 1, 1)), t = operand("t", type, shape, uniform(0, 1, 1), mapping);
              const Operand n = operand("n", UNSIGNED_INT, {}, integers(0, 5, 1));
              for (const bool cross_entropy : {false, true}) {
                const auto type_of_loss = cross_entropy ? popnn::CROSS_ENTROPY_LOSS : popnn::SUM_SQUARED_LOSS;
                const auto out = run(machine, {c.outputs, c.expected, l, t, d, s, n}, [&](Graph& g, Tensors& in, Sequence& prog) {
                  const Tensor loss = g.clone(in[2]), deltas = g.clone(in[3]), alone = g.clone(in[6]);
                  prog.add(poplar::program::Copy(in[6], alone));
                  if (scaled) {
                    prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, in[4], in[5], type_of_loss));
                    prog.add(popnn::calcLoss(g, in[0], in[1], in[2], in[3], in[4], in[5], in[6], type_of_loss));
                  } else {
                    prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, type_of_loss));
                    prog.add(popnn::calcLoss(g, in[0], in[1], in[2], in[3], in[6], type_of_loss));
                  }
                  prog.add(popnn::calcAccuracy(g, in[0], in[1], alone));
                  return Tensors{loss, deltas, in[2], in[3], in[6], alone};
                });
                const Tolerance tolerance = type == FLOAT ? Tolerance{2e-5, 2e-6} : Tolerance{3e-3, 3e-3};
                for (const std::size_t i : {0, 2}) {
                  expect_close(out[i], loss_of(c, cross_entropy, scale), tolerance, "loss " + what(machine, c.outputs));
                  expect_close(out[i + 1], deltas_of(c, scale, deltas_scale), tolerance, "deltas " + what(machine, c.outputs));
                }
                for (const std::size_t i : {4, 5}) expect_close(out[i], {n[0] + correct_of(c)}, "correct " + what(machine, c.outputs));
              }
            }
}

TEST(Loss, DeltasAreTheGradientOfSoftmaxAndLoss) {
  // For the loss as a function of softmax's operand: finite differences of the reference.
  constexpr std::size_t kClasses = 6, kRows = 4;
  const auto x = uniform(-2, 2, 1);
  const auto loss_at = [&](std::size_t r, std::size_t moved, double h) {
    double sum = 0;
    for (std::size_t i = 0; i < kClasses; ++i) sum += std::exp(x(r * kClasses + i) + (i == moved ? h : 0));
    return -(x(r * kClasses + r) + (r == moved ? h : 0) - std::log(sum));
  };
  const Operand p = operand("p", FLOAT, {kRows, kClasses}, [&](std::size_t i) {
    double sum = 0;
    for (std::size_t j = 0; j < kClasses; ++j) sum += std::exp(x(i / kClasses * kClasses + j));
    return std::exp(x(i)) / sum;
  });
  const Operand labels = operand("l", UNSIGNED_INT, {kRows}, [](std::size_t r) { return static_cast<double>(r); });
  const auto out = run(Machine::ipu1, {p, labels}, [](Graph& g, Tensors& in, Sequence& prog) {
    const Tensor deltas = g.clone(in[0]), loss = g.addVariable(FLOAT, {kRows}, "loss");
    g.setTileMapping(loss, 0);
    prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, popnn::CROSS_ENTROPY_LOSS));
    return Tensors{deltas};
  });
  std::vector<double> expected;
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t i = 0; i < kClasses; ++i) expected.push_back((loss_at(r, i, 1e-5) - loss_at(r, i, -1e-5)) / 2e-5);
  expect_close(out[0], expected, Tolerance{1e-5, 1e-6});
}

TEST(Loss, ProbabilityZeroIsFinite) {
  for (const Type& type : {FLOAT, HALF}) {
    const Operand p = operand("p", type, {1, 2}, [](std::size_t i) { return static_cast<double>(i); }),
                  l = operand("l", UNSIGNED_INT, {1}, integers(0, 0, 1));
    const auto out = run(Machine::cpu, {p, l}, [&](Graph& g, Tensors& in, Sequence& prog) {
      const Tensor deltas = g.clone(in[0]), loss = g.addVariable(type, {1}, "loss");
      g.setTileMapping(loss, 0);
      prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, popnn::CROSS_ENTROPY_LOSS));
      return Tensors{loss};
    });
    expect_close(out[0], {type == FLOAT ? 87.3365 : 16.6355}, Tolerance{1e-3, 0});
  }
}

TEST(Loss, EmptyBatch) {
  const auto out = run(Machine::ipu1,
                       {operand("p", FLOAT, {0, 3}, uniform(0, 1, 1)), operand("l", INT, {0}, uniform(0, 1, 1)),
                        operand("n", UNSIGNED_INT, {1}, integers(7, 7, 1))},
                       [](Graph& g, Tensors& in, Sequence& prog) {
                         const Tensor deltas = g.addVariable(FLOAT, {0, 3}), loss = g.addVariable(FLOAT, {0});
                         prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, in[2], popnn::SUM_SQUARED_LOSS));
                         return Tensors{in[2]};
                       });
  expect_close(out[0], {7});
}

// Columns in the order of their elements.
std::vector<std::size_t> order_of(const Operand& x, std::size_t row, bool descending) {
  const std::size_t n = x.shape[1];
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double u = x[row * n + a], v = x[row * n + b];
    if (std::isnan(u) != std::isnan(v)) return std::isnan(v);
    return u == v || (std::isnan(u) && std::isnan(v)) ? a < b : descending ? u > v : u < v;
  });
  return order;
}

TEST(Search, ExtremesAndTopK) {
  const std::vector<Shape> shapes = {{1, 1}, {5, 3}, {40, 10}, {3, 900}, {1, 3000}, {0, 4}};
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : kMappings)
        for (const Shape& shape : shapes) {
          const std::size_t columns = shape[1];
          // Few different values: many are equal.
          const Operand x = operand("x", type, shape, integers(type == UNSIGNED_INT ? 0 : -20, 40, 3), mapping);
          std::vector<unsigned> ks = {1, static_cast<unsigned>((columns + 1) / 2), static_cast<unsigned>(columns)};
          if (columns > 100) ks = {1, 7, 200};
          const auto out = run(machine, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
            const auto max = popnn::maxAndArgMax(g, in[0], prog), min = popnn::minAndArgMin(g, in[0], prog);
            Tensors results = {popnn::argMax(g, in[0], prog), popnn::argMin(g, in[0], prog), max.first, max.second, min.first, min.second};
            for (const unsigned k : ks) {
              Tensor indices;
              results.push_back(popnn::topK(g, in[0], indices, k, k != 7, prog));
              results.push_back(indices);
            }
            return results;
          });
          std::vector<std::vector<double>> expected(out.size());
          for (std::size_t r = 0; r < shape[0]; ++r) {
            const auto down = order_of(x, r, true), up = order_of(x, r, false);
            for (const std::size_t i : {0, 3}) expected[i].push_back(static_cast<double>(down[0]));
            for (const std::size_t i : {1, 5}) expected[i].push_back(static_cast<double>(up[0]));
            expected[2].push_back(x[r * columns + down[0]]);
            expected[4].push_back(x[r * columns + up[0]]);
            for (std::size_t i = 0; i < ks.size(); ++i)
              for (unsigned k = 0; k < ks[i]; ++k) {
                expected[6 + 2 * i].push_back(x[r * columns + down[k]]);
                expected[7 + 2 * i].push_back(static_cast<double>(down[k]));
              }
          }
          for (std::size_t i = 0; i < out.size(); ++i) {
            EXPECT_EQ(out[i].type, (i < 6 ? i == 2 || i == 4 : i % 2 == 0) ? type : UNSIGNED_INT);
            EXPECT_EQ(out[i].shape, i < 6 ? Shape{shape[0]} : (Shape{shape[0], 1, ks[(i - 6) / 2]}));
            expect_close(out[i], expected[i], Tolerance{}, std::to_string(i) + ' ' + what(machine, x));
          }
        }
}

TEST(Search, NotANumberComesLast) {
  const std::vector<double> values = {NAN, 1, 3, NAN, 2, -INFINITY};
  const Operand x = operand("x", FLOAT, {1, 6}, [&](std::size_t i) { return values[i]; });
  const auto out = run(Machine::cpu, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
    Tensor indices;
    const Tensor top = popnn::topK(g, in[0], indices, 6, true, prog);
    EXPECT_EQ(top.shape(), (Shape{1, 1, 6}));
    EXPECT_EQ(indices.shape(), (Shape{1, 1, 6}));
    return Tensors{popnn::argMax(g, in[0], prog), popnn::argMin(g, in[0], prog), indices, top};
  });
  expect_close(out[0], {2});
  expect_close(out[1], {5});
  expect_close(out[2], {2, 4, 1, 5, 0, 3});
  expect_close(out[3], {3, 2, 1, -INFINITY, NAN, NAN}, Tolerance{});
}

TEST(Loss, MostTilesWork) {
  for (const Type& type : {FLOAT, HALF})
    for (const Shape& shape : {Shape{1000, 100}, Shape{10, 10000}, Shape{10000, 10}}) {
      const Operand x = operand("x", type, shape, [](std::size_t) { return 0; }),
                    l = operand("l", UNSIGNED_INT, {shape[0]}, integers(0, 9, 1));
      EXPECT_GE(share_of_tiles_used(Machine::full, {x, l},
                                    [&](Graph& g, Tensors& in, Sequence& prog) {
                                      const Tensor deltas = g.clone(in[0]), loss = g.clone(type, in[1]);
                                      prog.add(popnn::calcLoss(g, in[0], in[1], loss, deltas, popnn::CROSS_ENTROPY_LOSS));
                                      return Tensors{};
                                    }),
                0.9);
      EXPECT_GE(share_of_tiles_used(Machine::full, {x},
                                    [&](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::argMax(g, in[0], prog)}; }),
                0.9);
      Tensor indices;
      EXPECT_GE(share_of_tiles_used(
                    Machine::full, {x},
                    [&](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::topK(g, in[0], indices, 5, true, prog)}; }),
                0.9);
    }
}

TEST(Loss, Errors) {
  using ::testing::HasSubstr;
  const auto error_of = [](const std::function<void(Graph&, Tensors&, Sequence&)>& f) {
    std::string message;
    const std::vector<Operand> operands = {
        operand("outputs", FLOAT, {4, 3}, uniform(0, 1, 1)),   operand("labels", UNSIGNED_INT, {4}, integers(0, 2, 1)),
        operand("loss", FLOAT, {4}, uniform(0, 1, 1)),         operand("deltas", FLOAT, {4, 3}, uniform(0, 1, 1)),
        operand("count", UNSIGNED_INT, {}, integers(0, 0, 1)), operand("half", HALF, {4, 3}, uniform(0, 1, 1))};
    run(Machine::ipu1, operands, [&](Graph& g, Tensors& in, Sequence& prog) {
      try {
        f(g, in, prog);
      } catch (const poputil::poplibs_error& e) { message = e.what(); }
      return Tensors{};
    });
    return message;
  };
  const auto loss = [&](int which, int with) {
    return error_of([&](Graph& g, Tensors& in, Sequence&) {
      Tensors t = {in[0], in[1], in[2], in[3], in[4]};
      t[static_cast<std::size_t>(which)] = in[static_cast<std::size_t>(with)];
      popnn::calcLoss(g, t[0], t[1], t[2], t[3], t[4], popnn::SUM_SQUARED_LOSS);
    });
  };
  EXPECT_THAT(loss(0, 2), HasSubstr("modelOutputs has shape"));
  EXPECT_THAT(loss(1, 4), HasSubstr("expected has shape"));
  EXPECT_THAT(loss(1, 5), HasSubstr("expected has type half"));
  EXPECT_THAT(loss(1, 2), HasSubstr("expected has shape"));
  EXPECT_THAT(loss(2, 1), HasSubstr("loss has type"));
  EXPECT_THAT(loss(2, 3), HasSubstr("loss has shape"));
  EXPECT_THAT(loss(3, 5), HasSubstr("deltas has type"));
  EXPECT_THAT(loss(3, 2), HasSubstr("deltas has shape"));
  EXPECT_THAT(loss(4, 2), HasSubstr("numCorrect has type"));
  EXPECT_THAT(loss(4, 1), HasSubstr("numCorrect has shape"));
  EXPECT_THAT(
      error_of([](Graph& g, Tensors& t, Sequence&) { popnn::calcLoss(g, t[0], t[1], t[2], t[3], static_cast<popnn::LossType>(7)); }),
      HasSubstr("there is no loss type 7"));
  EXPECT_THAT(
      error_of([](Graph& g, Tensors& t, Sequence&) { popnn::calcLoss(g, t[0], t[1], t[2], t[3], t[5], t[5], popnn::SUM_SQUARED_LOSS); }),
      HasSubstr("deltasScale has type"));
  EXPECT_THAT(
      error_of([](Graph& g, Tensors& t, Sequence&) { popnn::calcLoss(g, t[0], t[1], t[2], t[3], t[2], t[2], popnn::SUM_SQUARED_LOSS); }),
      HasSubstr("deltasScale has shape"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence&) { popnn::calcAccuracy(g, t[1], t[1], t[4]); }),
              HasSubstr("modelOutputs has shape"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence&) { popnn::calcAccuracy(g, t[1].reshape({2, 2}), t[1], t[4]); }),
              HasSubstr("modelOutputs has type"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::argMax(g, t[1], p); }), HasSubstr("two dimensions"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::argMin(g, t[0].slice(0, 0, 1), p); }), HasSubstr("without elements"));
  EXPECT_THAT(error_of([](Graph& g, Tensors&, Sequence& p) {
                const Tensor b = g.addVariable(BOOL, {2, 2});
                g.setTileMapping(b, 0);
                popnn::maxAndArgMax(g, b, p);
              }),
              HasSubstr("type bool"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) {
                Tensor indices;
                popnn::topK(g, t[0], indices, 4, true, p);
              }),
              HasSubstr("K is 4"));
  // As of popops::topK, results without elements.
  EXPECT_EQ(error_of([](Graph& g, Tensors& t, Sequence& p) {
              Tensor indices;
              EXPECT_EQ(popnn::topK(g, t[0], indices, 0, true, p).shape(), (Shape{t[0].dim(0), 1, 0}));
              EXPECT_EQ(indices.shape(), (Shape{t[0].dim(0), 1, 0}));
            }),
            "");
}

}  // namespace
}  // namespace oplib
