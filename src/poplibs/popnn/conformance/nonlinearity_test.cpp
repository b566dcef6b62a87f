// Activations, softmaxes and their gradients against plain references in double.
#include <popnn/LogSoftmax.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/NonLinearityDefUtil.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <limits>
#include <sstream>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::NonLinearityType;
using program::Execute;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Shape = std::vector<std::size_t>;

const std::vector<NonLinearityType> kElementwise = {NonLinearityType::SIGMOID, NonLinearityType::HARD_SIGMOID, NonLinearityType::RELU,
                                                    NonLinearityType::TANH,    NonLinearityType::GELU,         NonLinearityType::GELU_ERF,
                                                    NonLinearityType::SWISH};
const std::vector<NonLinearityType> kSoftmax = {NonLinearityType::SOFTMAX, NonLinearityType::SOFTMAX_STABLE,
                                                NonLinearityType::SOFTMAX_SCALED};

double value_of(NonLinearityType type, double x) {
  if (std::isnan(x)) return x;
  switch (type) {
    case NonLinearityType::SIGMOID: return 1 / (1 + std::exp(-x));
    case NonLinearityType::HARD_SIGMOID: return std::min(1.0, std::max(0.0, 0.2 * x + 0.5));
    case NonLinearityType::RELU: return x > 0 ? x : 0;
    case NonLinearityType::TANH: return std::tanh(x);
    case NonLinearityType::GELU: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case NonLinearityType::GELU_ERF: return 0.5 * x * std::erfc(-x / std::sqrt(2));
    default: return x / (1 + std::exp(-x));
  }
}
bool takes_operand(NonLinearityType type) {
  return type == NonLinearityType::GELU || type == NonLinearityType::GELU_ERF || type == NonLinearityType::SWISH;
}
// By finite differences of the reference.
double slope_of(NonLinearityType type, double x) {
  const double h = 1e-5;
  return (value_of(type, x + h) - value_of(type, x - h)) / (2 * h);
}

std::vector<double> softmax_of(const std::vector<double>& x, std::size_t columns, bool log = false) {
  std::vector<double> out(x.size());
  for (std::size_t r = 0; r < x.size(); r += columns) {
    double max = -INFINITY, sum = 0;
    for (std::size_t c = 0; c < columns; ++c) max = std::max(max, x[r + c]);
    for (std::size_t c = 0; c < columns; ++c) sum += std::exp(x[r + c] - max);
    for (std::size_t c = 0; c < columns; ++c) out[r + c] = log ? x[r + c] - max - std::log(sum) : std::exp(x[r + c] - max) / sum;
  }
  return out;
}

std::string what(NonLinearityType type, Machine machine, const Operand& x) {
  std::ostringstream text;
  text << popnn::asString(type) << ' ' << name_of(machine) << ' ' << name_of(x.mapping) << ' ' << x.type << " rank " << x.shape.size()
       << " of " << x.size();
  return text.str();
}
Tolerance softmax_tolerance(const Type& type) { return type == FLOAT ? Tolerance{1e-5, 1e-9} : Tolerance{2e-3, 1e-7}; }

TEST(NonLinearity, ValuesAndInPlace) {
  const std::vector<Shape> shapes = {{}, {1}, {7}, {3, 5}, {2, 3, 35}, {1000}, {0, 3}};
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : kMappings)
        for (const Shape& shape : shapes) {
          const Operand x = operand("x", type, shape, uniform(-6, 6, 1), mapping);
          // All functions in one program: most of a small run is making the device.
          const auto out = run(machine, {x}, [](Graph& g, Tensors& in, Sequence& prog) {
            Tensors results;
            for (const NonLinearityType f : kElementwise) {
              results.push_back(popnn::nonLinearity(g, f, in[0], prog));
              const Tensor copy = g.clone(in[0]);
              prog.add(program::Copy(in[0], copy));
              popnn::nonLinearityInPlace(g, f, copy, prog);
              results.push_back(copy);
            }
            return results;
          });
          for (std::size_t i = 0; i < out.size(); ++i) {
            const NonLinearityType f = kElementwise[i / 2];
            EXPECT_EQ(out[i].shape, shape);
            expect_close(out[i], map1(x, [f](double v) { return value_of(f, v); }), what(f, machine, x));
          }
        }
}

TEST(NonLinearity, FarOutAndNotANumber) {
  const std::vector<double> values = {0, -0.0, 1e-4, -1e-4, 20, -20, 100, -100, 3e4, -3e4, INFINITY, -INFINITY, NAN};
  for (const Type& type : {FLOAT, HALF}) {
    const Operand x = operand("x", type, {values.size()}, [&](std::size_t i) { return values[i]; });
    for (const NonLinearityType f : kElementwise) {
      const auto out =
          run(Machine::cpu, {x}, [f](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::nonLinearity(g, f, in[0], prog)}; });
      expect_close(out[0], map1(x, [f](double v) { return v == -INFINITY && takes_operand(f) ? 0 : value_of(f, v); }),
                   what(f, Machine::cpu, x));
    }
  }
}

TEST(NonLinearity, GradientsAreSlopes) {
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : {Mapping::linear, Mapping::scattered, Mapping::views})
        for (const Shape& shape : {Shape{}, Shape{6, 37}, Shape{0}})
          for (const NonLinearityType f : kElementwise) {
            // Away from the corners of the two that have some.
            const auto from = uniform(-3, 3, 7);
            const auto operand_at = [&](std::size_t i) {
              return std::abs(from(i)) < 0.01 || std::abs(std::abs(from(i)) - 2.5) < 0.01 ? 1.0 : from(i);
            };
            const Operand x = operand(
                "x", type, shape, [&](std::size_t i) { return takes_operand(f) ? operand_at(i) : value_of(f, operand_at(i)); }, mapping);
            const Operand g = operand("g", type, shape, uniform(-2, 2, 3));
            const auto out = run(machine, {x, g}, [f](Graph& graph, Tensors& in, Sequence& prog) {
              ComputeSet cs = graph.addComputeSet("gradient");
              const Tensor second = popnn::nonLinearityInputGradient(graph, f, in[0], in[1], cs);
              prog.add(Execute(cs));
              return Tensors{popnn::nonLinearityInputGradient(graph, f, in[0], in[1], prog), second};
            });
            std::vector<double> expected;
            for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(g[i] * slope_of(f, operand_at(i)));
            const Tolerance t = type == FLOAT ? Tolerance{1e-5, 1e-6} : Tolerance{2e-2, 2e-3};
            expect_close(out[0], expected, t, what(f, machine, x));
            expect_close(out[1], out[0].values, {}, what(f, machine, x));
          }
}

TEST(NonLinearity, ComputeSetForms) {
  const Operand x = operand("x", FLOAT, {40}, uniform(-3, 3, 7));
  float scaling = 0;
  const auto out = run(Machine::ipu1, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const Tensor a = g.clone(in[0]), b = g.clone(in[0]);
    prog.add(program::Copy(in[0], a));
    prog.add(program::Copy(in[0], b));
    ComputeSet cs = g.addComputeSet("both");
    popnn::nonLinearityInPlace(g, NonLinearityType::TANH, a, cs);
    popnn::nonLinearityInPlace(g, NonLinearityType::SIGMOID, b, scaling, cs);
    prog.add(Execute(cs));
    return Tensors{a, b};
  });
  EXPECT_EQ(scaling, 1);
  expect_close(out[0], map1(x, [](double v) { return std::tanh(v); }));
  expect_close(out[1], map1(x, [](double v) { return 1 / (1 + std::exp(-v)); }));
}

TEST(NonLinearity, NamedFunctions) {
  const Operand x = operand("x", FLOAT, {4, 9}, uniform(-3, 3, 7));
  const auto out = run(Machine::ipu1, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const Tensor copy = g.clone(in[0]);
    prog.add(program::Copy(in[0], copy));
    popnn::geluInPlace(g, copy, prog);
    return Tensors{popnn::sigmoid(g, in[0], prog), popnn::relu(g, in[0], prog),          popnn::tanh(g, in[0], prog),
                   popnn::gelu(g, in[0], prog),    popnn::geluErf(g, in[0], prog),       popnn::swish(g, in[0], prog),
                   popnn::softmax(g, in[0], prog), popnn::softmaxStable(g, in[0], prog), copy};
  });
  const std::vector<NonLinearityType> types = {NonLinearityType::SIGMOID, NonLinearityType::RELU,     NonLinearityType::TANH,
                                               NonLinearityType::GELU,    NonLinearityType::GELU_ERF, NonLinearityType::SWISH};
  for (std::size_t i = 0; i < types.size(); ++i)
    expect_close(out[i], map1(x, [&](double v) { return value_of(types[i], v); }), popnn::asString(types[i]));
  for (const std::size_t i : {6, 7}) expect_close(out[i], softmax_of(x.values, 9), softmax_tolerance(FLOAT));
  expect_close(out[8], map1(x, [&](double v) { return value_of(NonLinearityType::GELU, v); }));
}

TEST(Softmax, RowsOfManyShapes) {
  const std::vector<Shape> shapes = {{1},        {9},      {2000},   {1, 1}, {3, 1}, {5, 7},
                                     {2, 3, 11}, {64, 10}, {3, 900}, {2, 0}, {0, 2}, {2, 2, 2, 3}};
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : kMappings)
        for (const Shape& shape : shapes) {
          const Operand x = operand("x", type, shape, uniform(-9, 9, 1), mapping);
          float scaling = 0;
          const auto out = run(machine, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
            Tensors results;
            for (const NonLinearityType f : kSoftmax) results.push_back(popnn::nonLinearity(g, f, in[0], prog));
            results.push_back(popnn::scaledSoftmaxStable(g, in[0], scaling, prog));
            results.push_back(popnn::logSoftmax(g, in[0], prog));
            const Tensor a = g.clone(in[0]), b = g.clone(in[0]);
            prog.add(program::Copy(in[0], a));
            prog.add(program::Copy(in[0], b));
            popnn::softmaxInPlace(g, a, prog);
            popnn::logSoftmaxInPlace(g, b, prog);
            results.push_back(a);
            results.push_back(b);
            return results;
          });
          EXPECT_EQ(scaling, 62000);
          const std::size_t columns = shape.back();
          const std::vector<double> soft = softmax_of(x.values, std::max<std::size_t>(1, columns));
          const std::vector<double> log = softmax_of(x.values, std::max<std::size_t>(1, columns), true);
          std::vector<double> scaled = soft;
          for (double& v : scaled) v *= scaling;
          for (const std::size_t i : {0, 1, 2, 5}) expect_close(out[i], soft, softmax_tolerance(type), what(kSoftmax[0], machine, x));
          expect_close(
              out[3], scaled,
              type == HALF ? Tolerance{2e-3, 1e-3} : Tolerance{softmax_tolerance(type).relative, 62000 * softmax_tolerance(type).absolute},
              what(kSoftmax[2], machine, x));
          for (const std::size_t i : {4, 6})
            expect_close(out[i], log, type == FLOAT ? Tolerance{2e-6, 1e-5} : Tolerance{2e-3, 1e-3},
                         "log " + what(kSoftmax[0], machine, x));
        }
}

TEST(Softmax, DoesNotOverflowAndMasks) {
  const std::vector<double> values = {1000, 999, -1000, 0, -INFINITY, 5, 4, -INFINITY};
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {2, 4}, [&](std::size_t i) { return values[i]; });
    const auto out = run(machine, {x}, [](Graph& g, Tensors& in, Sequence& prog) {
      return Tensors{popnn::softmax(g, in[0], prog), popnn::logSoftmax(g, in[0], prog)};
    });
    expect_close(out[0], softmax_of(x.values, 4), Tolerance{1e-5, 1e-9});
    expect_close(out[1], softmax_of(x.values, 4, true), Tolerance{1e-5, 1e-6});
  }
  // A row in pieces, some of which are masked altogether.
  const Operand x =
      operand("x", FLOAT, {1, 1024}, [&](std::size_t i) { return i < 300 || i > 900 ? -INFINITY : 0.001 * static_cast<double>(i); });
  const auto out = run(Machine::ipu1, {x}, [](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::softmax(g, in[0], prog)}; });
  expect_close(out[0], softmax_of(x.values, 1024), Tolerance{1e-5, 1e-9});
}

TEST(Softmax, GradientIsTheSlope) {
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : {Mapping::linear, Mapping::scattered, Mapping::views})
        for (const Shape& shape : {Shape{5}, Shape{6, 11}, Shape{1, 700}, Shape{2, 20, 3}, Shape{0}}) {
          const std::size_t columns = std::max<std::size_t>(1, shape.back());
          const Operand x = operand("x", FLOAT, shape, uniform(-2, 2, 1));
          const std::vector<double> soft = softmax_of(x.values, columns);
          const Operand y = operand("y", type, shape, [&](std::size_t i) { return soft[i]; }, mapping);
          const Operand g = operand("g", type, shape, uniform(-1, 1, 5));
          const auto out = run(machine, {y, g}, [](Graph& graph, Tensors& in, Sequence& prog) {
            Tensors gradients;
            for (const NonLinearityType f : kSoftmax) gradients.push_back(popnn::nonLinearityInputGradient(graph, f, in[0], in[1], prog));
            return gradients;
          });
          // d/dh of dot(softmax(x + h e), g).
          std::vector<double> expected;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::size_t begin = i / columns * columns;
            double slope = 0;
            for (const double h : {1e-5, -1e-5}) {
              std::vector<double> row(x.values.begin() + static_cast<long>(begin), x.values.begin() + static_cast<long>(begin + columns));
              row[i - begin] += h;
              const std::vector<double> s = softmax_of(row, columns);
              for (std::size_t c = 0; c < columns; ++c) slope += s[c] * g[begin + c] / (2 * h);
            }
            expected.push_back(slope);
          }
          const Tolerance t = type == FLOAT ? Tolerance{1e-4, 1e-6} : Tolerance{1e-2, 1e-3};
          for (std::size_t k = 0; k < out.size(); ++k) expect_close(out[k], expected, t, what(kSoftmax[k], machine, y));
        }
}

TEST(NonLinearity, MostTilesWork) {
  for (const Type& type : {FLOAT, HALF}) {
    const auto share = [&](const Shape& shape, const std::function<void(Graph&, const Tensor&, Sequence&)>& op) {
      return share_of_tiles_used(Machine::full, {operand("x", type, shape, [](std::size_t) { return 0; })},
                                 [&](Graph& g, Tensors& in, Sequence& prog) {
                                   op(g, in[0], prog);
                                   return Tensors{};
                                 });
    };
    for (const Shape& shape : {Shape{100000}, Shape{1000, 100}, Shape{10, 10000}, Shape{2000, 50}, Shape{10000, 10}}) {
      EXPECT_GE(share(shape, [](Graph& g, const Tensor& t, Sequence& p) { popnn::gelu(g, t, p); }), 0.9);
      EXPECT_GE(share(shape, [](Graph& g, const Tensor& t, Sequence& p) { popnn::reluInPlace(g, t, p); }), 0.9);
      EXPECT_GE(share(shape,
                      [](Graph& g, const Tensor& t, Sequence& p) { popnn::nonLinearityInputGradient(g, NonLinearityType::TANH, t, t, p); }),
                0.9);
      EXPECT_GE(share(shape, [](Graph& g, const Tensor& t, Sequence& p) { popnn::softmax(g, t, p); }), 0.9) << shape[0];
      EXPECT_GE(share(shape, [](Graph& g, const Tensor& t, Sequence& p) { popnn::logSoftmaxInPlace(g, t, p); }), 0.9) << shape[0];
      EXPECT_GE(share(shape, [](Graph& g, const Tensor& t,
                                Sequence& p) { popnn::nonLinearityInputGradient(g, NonLinearityType::SOFTMAX, t, t, p); }),
                0.9);
    }
  }
}

TEST(NonLinearity, WorkOnOneTileIsSpread) {
  const Operand x = operand("x", FLOAT, {100000}, uniform(-1, 1, 1), Mapping::one);
  EXPECT_GE(
      share_of_tiles_used(Machine::full, {x}, [](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::tanh(g, in[0], prog)}; }),
      0.9);
}

template <class F>
std::string error_of(const F& f) {
  std::string message;
  run(Machine::ipu1,
      {operand("f", FLOAT, {4, 6}, uniform(0, 1, 1)), operand("i", INT, {4}, integers(0, 3, 1)),
       operand("h", HALF, {4, 6}, uniform(0, 1, 1)), operand("s", FLOAT, {}, uniform(0, 1, 1))},
      [&](Graph& g, Tensors& in, Sequence& prog) {
        try {
          f(g, in, prog);
        } catch (const poputil::poplibs_error& e) { message = e.what(); }
        return Tensors{};
      });
  return message;
}

TEST(NonLinearity, Errors) {
  using ::testing::HasSubstr;
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::relu(g, t[1], p); }), HasSubstr("has type int"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::reluInPlace(g, t[1], p); }), HasSubstr("has type int"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::reluInPlace(g, t[3].expand({0}).broadcast(3, 0), p); }),
              HasSubstr("not parallel writeable"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::softmax(g, t[3], p); }), HasSubstr("scalar"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::softmaxInPlace(g, t[3], p); }), HasSubstr("scalar"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::logSoftmax(g, t[3], p); }), HasSubstr("scalar"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::logSoftmax(g, t[1], p); }), HasSubstr("has type int"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence& p) { popnn::logSoftmaxInPlace(g, t[3].expand({0}).broadcast(3, 0), p); }),
              HasSubstr("not parallel writeable"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence&) {
                ComputeSet cs = g.addComputeSet("cs");
                popnn::nonLinearityInPlace(g, NonLinearityType::SOFTMAX, t[0], cs);
              }),
              HasSubstr("several compute sets"));
  EXPECT_THAT(error_of([](Graph& g, Tensors& t, Sequence&) {
                ComputeSet cs = g.addComputeSet("cs");
                popnn::nonLinearityInputGradient(g, NonLinearityType::SOFTMAX, t[0], t[0], cs);
              }),
              HasSubstr("several compute sets"));
  const auto gradient = [](const Tensor& (*second)(Tensors&)) {
    return error_of(
        [&](Graph& g, Tensors& t, Sequence& p) { popnn::nonLinearityInputGradient(g, NonLinearityType::RELU, t[0], second(t), p); });
  };
  EXPECT_THAT(gradient([](Tensors& t) -> const Tensor& { return t[2]; }), HasSubstr("outGradient half"));
  EXPECT_THAT(gradient([](Tensors& t) -> const Tensor& { return t[3]; }), HasSubstr("shape"));
}

TEST(NonLinearity, Names) {
  for (int i = 0; i <= static_cast<int>(NonLinearityType::SOFTMAX_SCALED); ++i) {
    std::ostringstream out;
    out << static_cast<NonLinearityType>(i);
    EXPECT_EQ(out.str(), popnn::asString(static_cast<NonLinearityType>(i)));
  }
  const auto parse = [](const std::string& text) {
    std::istringstream in(text);
    NonLinearityType type = NonLinearityType::RELU;
    in >> type;
    return type;
  };
  EXPECT_EQ(parse("softmax_scaled"), NonLinearityType::SOFTMAX_SCALED);
  EXPECT_EQ(parse("hard_sigmoid"), NonLinearityType::HARD_SIGMOID);
  EXPECT_THROW(parse("softplus"), poputil::poplibs_error);
  EXPECT_THROW(popnn::asString(static_cast<NonLinearityType>(99)), poputil::poplibs_error);
  EXPECT_EQ(poputil::VertexTemplateToString<NonLinearityType>::to_string(NonLinearityType::GELU), "popnn::NonLinearityType::GELU");
  EXPECT_THROW(poputil::VertexTemplateToString<NonLinearityType>::to_string(NonLinearityType::SOFTMAX), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
