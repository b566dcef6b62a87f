// Pooling and its gradients against a plain reference in double, over fields of one to three dimensions.
#include <poplar/exceptions.hpp>
#include <popnn/Pooling.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <array>
#include <sstream>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::PoolingType;
using popnn::pooling::PoolParams;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Shape = std::vector<std::size_t>;

const std::vector<PoolingType> kTypes = {PoolingType::MAX, PoolingType::AVG, PoolingType::SUM};

std::size_t product(const Shape& s) {
  std::size_t out = 1;
  for (const std::size_t d : s) out *= d;
  return out;
}

// The elements (flat, of a field) of window `o` (flat).
std::vector<std::size_t> elements_of(const PoolParams& p, const Shape& windows, std::size_t o) {
  std::vector<std::size_t> out = {0};
  const std::size_t n = windows.size();
  Shape at(n);
  for (std::size_t i = n; i-- > 0; o /= windows[i]) at[i] = o % windows[i];
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::size_t> next;
    for (const std::size_t base : out)
      for (std::size_t k = 0; k < p.kernelShape[i]; ++k) {
        const long e = static_cast<long>(at[i] * p.stride[i] + k) - p.inputTruncationOrPaddingLower[i];
        if (e >= 0 && e < static_cast<long>(p.inputFieldShape[i]))
          next.push_back(base * p.inputFieldShape[i] + static_cast<std::size_t>(e));
      }
    out = next;
  }
  return out;
}

std::vector<double> pooled_of(const PoolParams& p, const std::vector<double>& in) {
  const Shape windows = p.getOutputFieldShape();
  const std::size_t field = product(p.inputFieldShape);
  std::vector<double> out;
  for (std::size_t image = 0; image < p.batchSize * p.numChannels; ++image)
    for (std::size_t o = 0; o < product(windows); ++o) {
      const auto elements = elements_of(p, windows, o);
      double sum = 0, max = elements.empty() ? 0 : -INFINITY;
      for (const std::size_t e : elements) {
        sum += in[image * field + e];
        max = std::max(max, in[image * field + e]);
      }
      out.push_back(p.poolingType == PoolingType::MAX                        ? max
                    : p.poolingType == PoolingType::AVG && !elements.empty() ? sum / static_cast<double>(elements.size())
                                                                             : sum);
    }
  return out;
}

std::vector<double> gradient_of(const PoolParams& p, const std::vector<double>& in, const std::vector<double>& gradient, bool scaled) {
  const Shape windows = p.getOutputFieldShape();
  const std::size_t field = product(p.inputFieldShape), n = product(windows);
  std::vector<double> out(in.size(), 0);
  for (std::size_t image = 0; image < p.batchSize * p.numChannels; ++image)
    for (std::size_t o = 0; o < n; ++o) {
      const auto elements = elements_of(p, windows, o);
      const double* x = in.data() + image * field;
      double max = -INFINITY;
      for (const std::size_t e : elements) max = std::max(max, x[e]);
      const double equal = static_cast<double>(std::count_if(elements.begin(), elements.end(), [&](std::size_t e) { return x[e] == max; }));
      for (const std::size_t e : elements) {
        const double share = p.poolingType == PoolingType::SUM   ? 1
                             : p.poolingType == PoolingType::AVG ? 1 / static_cast<double>(elements.size())
                             : x[e] == max                       ? (scaled ? 1 / equal : 1)
                                                                 : 0;
        out[image * field + e] += share * gradient[image * n + o];
      }
    }
  return out;
}

struct Case {
  Shape field, kernel;
  std::vector<unsigned> stride;
  std::vector<int> lower, upper;
  std::size_t channels = 3, batch = 2;
};
const std::vector<Case> kCases = {
    {{12}, {3}, {2}, {0}, {0}},
    {{7}, {7}, {1}, {3}, {3}},
    {{1}, {1}, {1}, {0}, {0}, 1, 1},
    {{9, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}},
    {{9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 8, 3},
    {{9, 8}, {3, 2}, {2, 3}, {-1, 1}, {1, -2}, 5, 1},  // truncated
    {{4, 5}, {2, 2}, {1, 3}, {3, 0}, {3, 4}, 2, 1},    // windows without an element
    {{3, 40}, {1, 5}, {4, 5}, {0, 0}, {0, 0}, 16, 2},  // elements in no window
    {{30, 34}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, 1},
    {{4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 0, 1}, {0, 1, 0}, 4, 2},
    {{3, 2, 20}, {3, 1, 4}, {3, 1, 3}, {0, 0, -2}, {0, 0, 0}, 2, 1},
};

PoolParams params_of(const Case& c, PoolingType pooling, const Type& type) {
  return PoolParams(pooling, c.field, c.kernel, c.stride, c.lower, c.upper, c.channels, c.batch, type);
}
Shape shape_of(const Case& c, const Shape& field) {
  Shape out = {c.batch, c.channels};
  out.insert(out.end(), field.begin(), field.end());
  return out;
}
Tolerance tolerance_for(const Type& type) { return type == FLOAT ? Tolerance{1e-5, 1e-5} : Tolerance{3e-3, 5e-3}; }

// The same values in memory as {groups, batch, field ..., channels of a group}.
Tensor regroup(Graph& g, const Tensor& t, std::size_t channels, Sequence& prog) {
  const Shape shape = t.shape();
  Shape memory = {shape[1] / channels, shape[0]};
  memory.insert(memory.end(), shape.begin() + 2, shape.end());
  memory.push_back(channels);
  const Tensor v = g.addVariable(t.elementType(), memory, "grouped");
  map_tensor(g, v, Mapping::linear);
  const Tensor back = v.dimRoll(static_cast<unsigned>(v.rank() - 1), 1).dimShufflePartial({2}, {0}).reshape(shape);
  prog.add(program::Copy(t, back));
  return back;
}

TEST(Pooling, ForwardAndGradients) {
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const Mapping mapping : kMappings)
        for (std::size_t number = 0; number < kCases.size(); ++number) {
          const Case& c = kCases[number];
          const Shape windows = params_of(c, PoolingType::MAX, type).getOutputFieldShape();
          // Few different values: maxima are shared.
          const Operand x = operand("x", type, shape_of(c, c.field), integers(-6, 6, 3), mapping);
          const Operand g = operand("g", type, shape_of(c, windows), uniform(-1, 1, 4), mapping);
          const auto out = run(machine, {x, g}, [&](Graph& graph, Tensors& in, Sequence& prog) {
            Tensors results;
            for (const PoolingType pooling : kTypes) {
              const PoolParams p = params_of(c, pooling, type);
              const Tensor pooled = popnn::pooling::pool(graph, p, in[0], prog);
              results.push_back(pooled);
              results.push_back(popnn::pooling::poolInputGradient(graph, p, in[0], pooled, in[1], false, prog));
              results.push_back(popnn::pooling::poolInputGradient(graph, p, in[0], pooled, in[1], true, prog));
              if (pooling != PoolingType::MAX)
                results.push_back(popnn::pooling::poolInputGradient(graph, p, c.channels % 2 == 0 ? 2 : 1, in[1], prog));
            }
            return results;
          });
          std::size_t at = 0;
          for (const PoolingType pooling : kTypes) {
            const PoolParams p = params_of(c, pooling, type);
            const std::string what = std::string(popnn::pooling::asString(pooling)) + " case " + std::to_string(number) + " " +
                                     name_of(machine) + " " + name_of(mapping);
            EXPECT_EQ(out[at].shape, shape_of(c, windows));
            expect_close(out[at++], pooled_of(p, x.values), tolerance_for(type), what);
            EXPECT_EQ(out[at].shape, x.shape);
            expect_close(out[at++], gradient_of(p, x.values, g.values, false), tolerance_for(type), "gradient " + what);
            expect_close(out[at++], gradient_of(p, x.values, g.values, true), tolerance_for(type), "scaled gradient " + what);
            if (pooling != PoolingType::MAX)
              expect_close(out[at++], gradient_of(p, x.values, g.values, false), tolerance_for(type), "short gradient " + what);
          }
        }
}

TEST(Pooling, ChannelsTogether) {
  for (const std::size_t channels : {2, 8, 16})
    for (const Machine machine : kMachines) {
      const Case c = {{9, 10}, {3, 3}, {2, 1}, {1, 1}, {1, 0}, 16, 2};
      const PoolParams p = params_of(c, PoolingType::MAX, FLOAT), avg = params_of(c, PoolingType::AVG, FLOAT);
      const Operand x = operand("x", FLOAT, shape_of(c, c.field), uniform(-6, 6, 3)),
                    g = operand("g", FLOAT, shape_of(c, p.getOutputFieldShape()), uniform(-1, 1, 4));
      const auto out = run(machine, {x, g}, [&](Graph& graph, Tensors& in, Sequence& prog) {
        const Tensor grouped = regroup(graph, in[0], channels, prog), pooled = popnn::pooling::pool(graph, p, grouped, prog);
        return Tensors{pooled, popnn::pooling::poolInputGradient(graph, p, grouped, pooled, in[1], true, prog),
                       popnn::pooling::pool(graph, avg, grouped, prog),
                       popnn::pooling::poolInputGradient(graph, avg, grouped, pooled, in[1], false, prog)};
      });
      expect_close(out[0], pooled_of(p, x.values), tolerance_for(FLOAT));
      expect_close(out[1], gradient_of(p, x.values, g.values, true), tolerance_for(FLOAT));
      expect_close(out[2], pooled_of(avg, x.values), tolerance_for(FLOAT));
      expect_close(out[3], gradient_of(avg, x.values, g.values, true), tolerance_for(FLOAT));
    }
}

TEST(Pooling, GradientsAreSlopes) {
  const Case c = {{5, 6}, {3, 3}, {2, 1}, {1, 0}, {0, 1}, 1, 1};
  for (const PoolingType pooling : kTypes) {
    const PoolParams p = params_of(c, pooling, FLOAT);
    const Operand x = operand("x", FLOAT, shape_of(c, c.field), uniform(-6, 6, 3)),
                  g = operand("g", FLOAT, shape_of(c, p.getOutputFieldShape()), uniform(-1, 1, 4));
    const auto out = run(Machine::ipu1, {x, g}, [&](Graph& graph, Tensors& in, Sequence& prog) {
      return Tensors{popnn::pooling::poolInputGradient(graph, p, in[0], popnn::pooling::pool(graph, p, in[0], prog), in[1], false, prog)};
    });
    std::vector<double> expected;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double slope = 0;
      for (const double h : {1e-4, -1e-4}) {
        std::vector<double> moved = x.values;
        moved[i] += h;
        const auto y = pooled_of(p, moved);
        for (std::size_t o = 0; o < y.size(); ++o) slope += y[o] * g[o] / (2 * h);
      }
      expected.push_back(slope);
    }
    expect_close(out[0], expected, Tolerance{1e-4, 1e-4}, popnn::pooling::asString(pooling));
  }
}

TEST(Pooling, PartsAreCutEitherWay) {
  const Case c{{64, 200}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 1, 1};
  for (const PoolingType pooling : kTypes) {
    const PoolParams p = params_of(c, pooling, FLOAT);
    const Operand x = operand("x", FLOAT, shape_of(c, c.field), uniform(-1, 1, 1));
    std::vector<std::string> texts;
    for (const char* whole : {"true", "false"}) {
      const auto out = run(Machine::cpu, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor pooled = popnn::pooling::pool(g, p, in[0], prog, {}, {{"pando.wholeParts", whole}});
        std::ostringstream text;
        g.serialize(text);
        texts.push_back(text.str());
        return Tensors{pooled};
      });
      expect_close(out[0], pooled_of(p, x.values), tolerance_for(FLOAT), whole);
    }
    EXPECT_NE(texts[0], texts[1]) << "the switch changes what vertices read";
  }
}

TEST(Pooling, EmptyBatch) {
  const PoolParams p(PoolingType::MAX, {4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, 3, 0, FLOAT);
  const auto out = run(Machine::ipu1, {operand("x", FLOAT, {0, 3, 4, 4}, uniform(0, 1, 1))}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const Tensor pooled = popnn::pooling::pool(g, p, in[0], prog);
    return Tensors{pooled, popnn::pooling::poolInputGradient(g, p, in[0], pooled, pooled, false, prog)};
  });
  EXPECT_EQ(out[0].shape, (Shape{0, 3, 2, 2}));
  EXPECT_EQ(out[1].shape, (Shape{0, 3, 4, 4}));
}

TEST(Pooling, MostTilesWork) {
  for (const Type& type : {FLOAT, HALF})
    for (const auto& [batch, channels, field] : {std::tuple<std::size_t, std::size_t, Shape>{1, 1, {400, 400}},
                                                 {4, 64, {20, 40}},
                                                 {2, 3, {300, 300}},
                                                 {100, 64, {8, 8}},
                                                 {1, 1, {400000}}}) {
      const std::size_t n = field.size();
      const PoolParams p(PoolingType::MAX, field, Shape(n, 3), std::vector<unsigned>(n, n == 1 ? 2 : 1), std::vector<int>(n, 1),
                         std::vector<int>(n, 1), channels, batch, type);
      Shape shape = {batch, channels};
      shape.insert(shape.end(), field.begin(), field.end());
      const Operand x = operand("x", type, shape, [](std::size_t) { return 0; });
      EXPECT_GE(
          share_of_tiles_used(Machine::full, {x},
                              [&](Graph& g, Tensors& in, Sequence& prog) { return Tensors{popnn::pooling::pool(g, p, in[0], prog)}; }),
          0.9)
          << shape.back();
      EXPECT_GE(share_of_tiles_used(Machine::full, {x},
                                    [&](Graph& g, Tensors&, Sequence& prog) {
                                      PoolParams sum = p;
                                      sum.poolingType = PoolingType::SUM;
                                      const Shape windows = p.getOutputFieldShape();
                                      Shape out = {batch, channels};
                                      out.insert(out.end(), windows.begin(), windows.end());
                                      const Tensor gradient = g.addVariable(type, out);
                                      map_tensor(g, gradient, Mapping::linear);
                                      return Tensors{popnn::pooling::poolInputGradient(g, sum, 1, gradient, prog)};
                                    }),
                0.9)
          << shape.back();
    }
}

TEST(Pooling, Work) {
  const PoolParams sum(PoolingType::SUM, {4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, 3, 5, FLOAT);
  EXPECT_EQ(popnn::pooling::getFwdFlops(sum), 16u * 15);
  EXPECT_EQ(popnn::pooling::getBwdFlops(sum), 16u * 15);
  const PoolParams avg(PoolingType::AVG, {4}, {3}, {1}, {1}, {1}, 1, 1, HALF);
  EXPECT_EQ(popnn::pooling::getFwdFlops(avg), 2u + 3 + 3 + 2 + 4);
  Graph graph(device_of(Machine::ipu1).getTarget());
  EXPECT_DOUBLE_EQ(popnn::pooling::getFwdPerfectCycleCount(graph, sum), 240.0 / (16 * 2));
  EXPECT_DOUBLE_EQ(popnn::pooling::getBwdPerfectCycleCount(graph, avg), 14.0 / (16 * 4));
  std::ostringstream text;
  text << sum;
  EXPECT_NE(text.str().find("kernelShape {2,2}"), std::string::npos);
}

TEST(Pooling, Errors) {
  using ::testing::HasSubstr;
  const PoolParams good(PoolingType::MAX, {4, 4}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, 3, 2, FLOAT);
  const auto error_of = [&](const std::function<void(PoolParams&)>& change, const OptionFlags& options = {}, bool shorter = false) {
    std::string message;
    run(Machine::ipu1,
        {operand("x", FLOAT, {2, 3, 4, 4}, uniform(0, 1, 1)), operand("y", FLOAT, {2, 3, 2, 2}, uniform(0, 1, 1)),
         operand("h", HALF, {2, 3, 4, 4}, uniform(0, 1, 1))},
        [&](Graph& g, Tensors& in, Sequence& prog) {
          PoolParams p = good;
          change(p);
          try {
            if (shorter)
              popnn::pooling::poolInputGradient(g, p, 2, in[1], prog, {}, options);
            else
              popnn::pooling::pool(g, p, in[0], prog, {}, options);
          } catch (const poputil::poplibs_error& e) { message = e.what(); } catch (const poplar::invalid_option& e) {
            message = std::string("option: ") + e.what();
          }
          return Tensors{};
        });
    return message;
  };
  EXPECT_EQ(error_of([](PoolParams&) {}), "");
  EXPECT_EQ(error_of([](PoolParams&) {}, {{"poolUseIntrospectiveMapping", "false"}, {"optimizeForSpeed", "true"}}), "");
  EXPECT_THAT(error_of([](PoolParams&) {}, {{"speed", "true"}}), HasSubstr("option: "));
  EXPECT_THAT(error_of([](PoolParams&) {}, {{"optimizeForSpeed", "perhaps"}}), HasSubstr("option: "));
  EXPECT_THAT(error_of([](PoolParams& p) { p.inputFieldShape = {4, 5}; }), HasSubstr("the operand has shape"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.dType = HALF; }), HasSubstr("the operand has type float"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.dType = INT; }), HasSubstr("dType is int"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.stride = {1}; }), HasSubstr("stride has 1 dimensions"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.kernelShape = {}; }), HasSubstr("kernelShape has 0 dimensions"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.inputTruncationOrPaddingLower = {0}; }), HasSubstr("Lower has 1"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.inputTruncationOrPaddingUpper = {0}; }), HasSubstr("Upper has 1"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.inputFieldShape = {1, 1, 1, 1}; }), HasSubstr("expected 1 to 3"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.stride = {1, 0}; }), HasSubstr("is 0 in dimension 1"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.kernelShape = {5, 2}; }), HasSubstr("does not fit"));
  EXPECT_THAT(error_of([](PoolParams&) {}, {}, true), HasSubstr("needs the operand"));
  EXPECT_THAT(error_of([](PoolParams& p) { p.poolingType = PoolingType::SUM; }, {}, true), HasSubstr("no multiple of fwdChansPerGroup"));
}

}  // namespace
}  // namespace oplib
