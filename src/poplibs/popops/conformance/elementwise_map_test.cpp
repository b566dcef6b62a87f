// popops::map and the functions made of it: broadcasting, in-place forms, fused expressions, on all machines and mappings.
#include "oplib.h"

#include <poplar/exceptions.hpp>
#include <popops/ElementWise.hpp>
#include <popops/ElementWiseUtil.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <sstream>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

TEST(ElementWiseMap, FunctionsBroadcastFuseAndWriteInPlace) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF}) {
        const Operand x = operand("x", type, {13, 7}, uniform(-2, 2, 1), mapping), y = operand("y", type, {13, 7}, uniform(-2, 2, 2));
        const Operand row = operand("row", type, {7}, uniform(-2, 2, 3), mapping),
                      column = operand("column", type, {13, 1}, uniform(-2, 2, 4));
        RunOptions options;
        options.in_place = true;
        const auto out = run(
            machine, {x, y, row, column},
            [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              using namespace popops::expr;
              const Tensor exponential = popops::exp(g, in[0], prog), sum = popops::add(g, in[0], in[1], prog);
              const Tensor rows = popops::add(g, in[0], in[2], prog), columns = popops::mul(g, in[0], in[3], prog);
              const Tensor fused = popops::map(g, Tanh(_1 * 0.5f + _2) - _3, {in[0], in[1], in[2]}, prog);
              popops::mulInPlace(g, in[0], in[1], prog);
              return std::vector<Tensor>{exponential, sum, rows, columns, fused};
            },
            options);
        const std::string what = name_of(machine) + ' ' + name_of(mapping);
        expect_close(out[0], map1(x, [](double v) { return std::exp(v); }), what);
        expect_close(out[1], map2(x, y, [](double a, double b) { return a + b; }), what);
        std::vector<double> rows, columns, fused;
        for (std::size_t i = 0; i < x.size(); ++i) {
          rows.push_back(x[i] + row[i % 7]);
          columns.push_back(x[i] * column[i / 7]);
          fused.push_back(std::tanh(x[i] * 0.5 + y[i]) - row[i % 7]);
        }
        expect_close(out[2], rows, what);
        expect_close(out[3], columns, what);
        expect_close(out[4], fused, {is_floating(type) && type == HALF ? 2e-3 : 2e-6, 5e-7}, what);
        expect_close(out[5], map2(x, y, [](double a, double b) { return a * b; }), what);
      }
}

using namespace popops::expr;

const OptionFlags kPlain = {}, kCompiled = {{"forceGenerateCodelet", "true"}}, kAsWritten = {{"enableExpressionOptimisations", "false"}},
                  kSpread = {{"enableVectorBroadcastOptimisations", "false"}};
const std::vector<OptionFlags> kWays = {kPlain, kCompiled, kAsWritten, kSpread};

// Expressions of every kind of node, evaluated in every way: the same bits, and those of the reference.
TEST(ElementWiseMap, EveryWayOfEvaluatingGivesTheSame) {
  for (const Type& type : {FLOAT, HALF}) {
    for (const Machine machine : kMachines) {
      const Mapping mapping = machine == Machine::ipu1 ? Mapping::scattered : machine == Machine::cpu ? Mapping::views : Mapping::linear;
      const Operand x = operand("x", type, {9, 4, 33}, uniform(-2, 2, 1), mapping), y = operand("y", type, {4, 1}, uniform(0.5, 2, 2));
      const Operand k = operand("k", INT, {9, 4, 33}, integers(-50, 50, 3), mapping), b = operand("b", BOOL, {33}, integers(0, 1, 4)),
                    s = operand("s", type, {}, uniform(1, 2, 5));
      const Any expressions[] = {
          Sigmoid(_1 * _2) + Pow(Abs(_1), Const(2.0f)) - _1 / 4,
          Select(_1 + 1, Neg(_2), Or(_4, Gt(_3, Const(0)))),
          Cast(_1 * 10.0f, INT) + _3 % 7,
          Clamp(_1, -_5 / 2, Const(0.75f)) * (Const(1) + Const(2)),
          Add(Exp(_1), Exp(_1)) * Sqrt(Square(_1) + _2),
          Cast(_3, type) * _1 + Cast(_4, type),
      };
      const std::vector<std::function<double(double, double, double, double, double)>> reference = {
          [](double a, double c, double, double, double) { return 1 / (1 + std::exp(-a * c)) + a * a - a / 4; },
          [](double a, double c, double i, double t, double) { return t != 0 || i > 0 ? a + 1 : -c; },
          [](double a, double, double i, double, double) { return std::trunc(a * 10) + std::fmod(i, 7); },
          [](double a, double, double, double, double u) { return std::min(std::max(a, -u / 2), 0.75) * 3; },
          [](double a, double c, double, double, double) { return 2 * std::exp(a) * std::sqrt(a * a + c); },
          [](double a, double, double i, double t, double) { return i * a + t; },
      };
      std::vector<std::vector<Values>> results;
      for (const OptionFlags& way : kWays)
        results.push_back(run(machine, {x, y, k, b, s}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          std::vector<Tensor> outs;
          for (const Any& e : expressions) outs.push_back(popops::map(g, e, in, prog, "e", way));
          return outs;
        }));
      for (std::size_t e = 0; e < reference.size(); ++e) {
        std::vector<double> expected;
        for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(reference[e](x[i], y[i / 33 % 4], k[i], b[i % 33], s[0]));
        expect_close(results[0][e], expected, {type == HALF ? 2e-3 : 2e-6, type == HALF ? 1e-3 : 1e-6},
                     name_of(machine) + " expression " + std::to_string(e));
        for (std::size_t way = 1; way < kWays.size(); ++way)
          expect_close(results[way][e], results[0][e].values, {},
                       name_of(machine) + " expression " + std::to_string(e) + " way " + std::to_string(way));
      }
    }
  }
}

TEST(ElementWiseMap, ConstantsOfAllTypes) {
  const Operand f = operand("f", FLOAT, {5}, integers(0, 9, 1)), h = operand("h", HALF, {5}, integers(0, 9, 2)),
                i = operand("i", INT, {5}, integers(0, 9, 3));
  const Operand u = operand("u", UNSIGNED_INT, {5}, integers(0, 9, 4)), c = operand("c", UNSIGNED_CHAR, {5}, integers(0, 9, 5)),
                l = operand("l", LONGLONG, {5}, integers(0, 9, 6));
  const auto out = run(Machine::cpu, {f, h, i, u, c, l}, [](Graph& g, std::vector<Tensor>& in, Sequence& p) {
    return std::vector<Tensor>{popops::map(g, _1 * 2.5f, {in[0]}, p),
                               popops::map(g, _1 * 2.5_half, {in[1]}, p),
                               popops::map(g, _1 + 2.5, {in[1]}, p),
                               popops::map(g, _1 - 3, {in[2]}, p),
                               popops::map(g, 7u * _1, {in[3]}, p),
                               popops::map(g, _1 + 2, {in[4]}, p),
                               popops::map(g, _1 * 10000000000ll, {in[5]}, p),
                               popops::map(g, _1 * 3, {in[0]}, p),
                               popops::map(g, Const(2.0f) * 3.0f, {}, p),
                               popops::map(g, Select(Const(1.0f), Const(2.0f), _1 > 4), {in[2]}, p)};
  });
  expect_close(out[0], map1(f, [](double v) { return v * 2.5; }));
  expect_close(out[1], map1(h, [](double v) { return v * 2.5; }));
  expect_close(out[2], map1(h, [](double v) { return v + 2.5; }));
  expect_close(out[3], map1(i, [](double v) { return v - 3; }));
  expect_close(out[4], map1(u, [](double v) { return v * 7; }));
  expect_close(out[5], map1(c, [](double v) { return v + 2; }));
  expect_close(out[6], map1(l, [](double v) { return v * 1e10; }));
  expect_close(out[7], map1(f, [](double v) { return v * 3; }));
  expect_close(out[8], {6});
  expect_close(out[9], map1(i, [](double v) { return v > 4 ? 1.0 : 2.0; }));
  EXPECT_EQ(out[9].type, FLOAT);
}

// Everything sees what its operands were, also where results lie on operands.
TEST(ElementWiseMap, ResultsOnOperands) {
  for (const Machine machine : kMachines)
    for (const OptionFlags& way : {kPlain, kCompiled}) {
      const Operand x = operand("x", FLOAT, {6, 6}, uniform(-2, 2, 1)), y = operand("y", FLOAT, {6, 6}, uniform(-2, 2, 2)),
                    z = operand("z", FLOAT, {8}, uniform(-2, 2, 3));
      RunOptions options;
      options.in_place = true;
      const auto out = run(
          machine, {x, y, z},
          [&](Graph& g, std::vector<Tensor>& in, Sequence& p) {
            popops::mapInPlace(g, std::vector<Any>{_2, _1}, {in[0], in[1]}, p, {}, way);    // swap
            popops::mapInPlace(g, _1 + _2 * 2.0f, {in[0], in[0].transpose()}, p, {}, way);  // the same elements in another order
            popops::mapWithOutput(g, _1 * _2, {in[1], in[1]}, in[1], p, {}, way);           // the same tensor three times
            popops::mapWithOutput(g, _1 - _2 / 2, {in[2].slice(0, 7), in[2].slice(1, 8)}, in[2].slice(1, 8), p, {}, way);  // shifted
            return std::vector<Tensor>{};
          },
          options);
      std::vector<double> first, second, third = {z[0]};
      for (std::size_t i = 0; i < 36; ++i) first.push_back(y[i] + 2 * y[i % 6 * 6 + i / 6]), second.push_back(x[i] * x[i]);
      for (std::size_t i = 1; i < 8; ++i) third.push_back(z[i - 1] - z[i] / 2);
      expect_close(out[0], first, name_of(machine));
      expect_close(out[1], second, name_of(machine));
      expect_close(out[2], third, name_of(machine));
    }
}

TEST(ElementWiseMap, SeveralResultsInOneComputeSet) {
  const Operand x = operand("x", FLOAT, {50}, uniform(0.5, 2, 1)), y = operand("y", HALF, {50}, uniform(0.5, 2, 2));
  for (const OptionFlags& way : {kPlain, kCompiled}) {
    const auto out = run(Machine::ipu2, {x, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& p) {
      return popops::map(g, std::vector<Any>{Exp(_1) + 1, Exp(_1) * Cast(_2, FLOAT), _2 * _2, _1 > Cast(_2, FLOAT)}, in, p, {}, way);
    });
    expect_close(out[0], map1(x, [](double v) { return std::exp(v) + 1; }));
    expect_close(out[1], map2(x, y, [](double a, double b) { return std::exp(a) * b; }));
    expect_close(out[2], map1(y, [](double v) { return v * v; }));
    expect_close(out[3], map2(x, y, [](double a, double b) { return a > b ? 1.0 : 0.0; }));
  }
}

// More constants than a program in blocks can name: compiled.
TEST(ElementWiseMap, ALongSum) {
  Any sum = _1 * 1.5f;
  for (int i = 0; i < 260; ++i) sum = sum + _1 * (2.5f + static_cast<float>(i));
  const Operand x = operand("x", FLOAT, {70}, uniform(1, 2, 1));
  const auto out = run(Machine::ipu1, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& p) {
    return std::vector<Tensor>{popops::map(g, sum, {in[0]}, p)};
  });
  expect_close(out[0], map1(x, [](double v) { return v * (1.5 + 260 * 2.5 + 260 * 259 / 2); }), Tolerance{1e-5, 0});
}

TEST(ElementWiseMap, ShapesOfAllRanks) {
  const std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> shapes = {{{}, {}},
                                                                                             {{1}, {}},
                                                                                             {{7}, {1}},
                                                                                             {{0}, {}},
                                                                                             {{3, 0}, {1}},
                                                                                             {{2, 3}, {3}},
                                                                                             {{2, 3}, {2, 1}},
                                                                                             {{2, 1, 4}, {3, 1}},
                                                                                             {{2, 3, 4, 5}, {3, 1, 5}},
                                                                                             {{2, 3, 4, 5}, {4, 1}},
                                                                                             {{1, 5}, {5, 1}},
                                                                                             {{100, 3}, {3}},
                                                                                             {{1000}, {1000}},
                                                                                             {{2, 700}, {700}}};
  for (const auto& [a, b] : shapes)
    for (const Mapping mapping : {Mapping::linear, Mapping::views}) {
      const Operand x = operand("x", FLOAT, a, uniform(-2, 2, 1), mapping), y = operand("y", FLOAT, b, uniform(-2, 2, 2), mapping);
      const auto out = run(Machine::ipu1, {x, y}, [](Graph& g, std::vector<Tensor>& in, Sequence& p) {
        return std::vector<Tensor>{popops::sub(g, in[0], in[1], p)};
      });
      std::vector<std::size_t> shape(std::max(a.size(), b.size()), 1);
      for (const auto* from : {&a, &b})
        for (std::size_t i = 0; i < from->size(); ++i) {
          std::size_t& to = shape[shape.size() - from->size() + i];
          if (to == 1) to = (*from)[i];
        }
      ASSERT_EQ(out[0].shape, shape);
      const auto element = [&](const Operand& o, std::size_t i) {
        std::size_t at = 0, step = 1;
        for (std::size_t d = shape.size(); d-- > 0; i /= shape[d]) {
          const std::size_t from_end = shape.size() - d;
          if (from_end > o.shape.size()) continue;
          const std::size_t size = o.shape[o.shape.size() - from_end];
          at += (size == 1 ? 0 : i % shape[d]) * step;
          step *= size;
        }
        return o[at];
      };
      std::vector<double> expected;
      for (std::size_t i = 0; i < out[0].size(); ++i) expected.push_back(element(x, i) - element(y, i));
      expect_close(out[0], expected);
    }
}

TEST(ElementWiseMap, UsesTheMachine) {
  for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_CHAR, LONGLONG}) {
    const Operand x = operand("x", type, {100000}, integers(0, 9, 1)), y = operand("y", type, {1000}, integers(0, 9, 2)),
                  one = operand("x", type, {100000}, integers(0, 9, 1), Mapping::one);
    EXPECT_GE(share_of_tiles_used(
                  Machine::full, {x},
                  [](Graph& g, std::vector<Tensor>& in, Sequence& p) { return std::vector<Tensor>{popops::square(g, in[0], p)}; }),
              0.9)
        << type;
    EXPECT_GE(share_of_tiles_used(Machine::full, {x, y},
                                  [](Graph& g, std::vector<Tensor>& in, Sequence& p) {
                                    return std::vector<Tensor>{popops::map(g, (_1 + _2) * _2, {in[0].reshape({100, 1000}), in[1]}, p)};
                                  }),
              0.9)
        << type;
    EXPECT_GE(share_of_tiles_used(
                  Machine::full, {one},
                  [](Graph& g, std::vector<Tensor>& in, Sequence& p) { return std::vector<Tensor>{popops::square(g, in[0], p)}; }),
              0.9)
        << type;
  }
}

TEST(ElementWiseMap, Errors) {
  Graph graph(device_of(Machine::ipu1).getTarget());
  popops::addCodelets(graph);
  Sequence p;
  const auto tensor = [&](const Type& type, std::vector<std::size_t> shape) {
    const Tensor t = graph.addVariable(type, shape);
    graph.setTileMapping(t, 0);
    return t;
  };
  const Tensor f = tensor(FLOAT, {4}), h = tensor(HALF, {4}), i = tensor(INT, {4}), three = tensor(FLOAT, {3}),
               matrix = tensor(FLOAT, {2, 4}), b = tensor(BOOL, {4});
  const auto fails = [](const std::function<void()>& call, const std::string& message) {
    try {
      call();
      ADD_FAILURE() << "no error: " << message;
    } catch (const poputil::poplibs_error& e) { EXPECT_THAT(e.what(), testing::HasSubstr(message)); }
  };
  fails([&] { popops::add(graph, f, h, p); }, "popops::map: ADD has operands of types float and half");
  fails([&] { popops::add(graph, f, three, p); }, "shapes do not broadcast: {4}, {3}");
  fails([&] { popops::add(graph, b, b, p); }, "ADD is not defined for type bool");
  fails([&] { popops::exp(graph, i, p); }, "EXPONENT is not defined for type int");
  fails([&] { popops::select(graph, f, f, i, p); }, "SELECT has a condition of type int, not bool");
  fails([&] { popops::map(graph, _3, {f, f}, p); }, "placeholder _3, but there are 2 tensors");
  const auto deep = [](unsigned n) {
    popops::expr::Any e = popops::expr::Any(_1);
    for (; n > 0; --n) e = popops::expr::Any(popops::expr::Add(e, _1));
    return e;
  };
  fails([&] { popops::map(graph, deep(2000), {f}, p); }, "nests deeper than 1000");
  fails([&] { popops::mapInPlace(graph, deep(2000), {f}, p); }, "nests deeper than 1000");
  popops::map(graph, deep(500), {f}, p);
  // What no expression uses is looked at all the same.
  Graph other(device_of(Machine::ipu1).getTarget());
  const Tensor foreign = other.addVariable(FLOAT, {4});
  using poplar::graph_connection_error;
  EXPECT_THROW(popops::map(graph, _1, {f, foreign}, p), graph_connection_error);
  EXPECT_THROW(popops::mapInPlace(graph, _1 + _1, {f, foreign}, p), graph_connection_error);
  EXPECT_THROW(popops::mapWithOutput(graph, _1, {f, foreign}, f, p), graph_connection_error);
  std::vector<poplar::ComputeSet> sets{other.addComputeSet()};
  EXPECT_THROW(popops::reduce(graph, f, {}, {popops::Operation::ADD}, sets), graph_connection_error);
  EXPECT_THROW(popops::createOutputForElementWiseOp(graph, {f, foreign.slice(0, 1)}, FLOAT), graph_connection_error);
  EXPECT_THROW(popops::zero(graph, foreign.slice(0, 0), p), graph_connection_error);
  EXPECT_THROW(popops::zero(graph, f.slice(0, 0), 0, other.addComputeSet()), graph_connection_error);
  EXPECT_THROW(popops::zero(graph, foreign, std::vector<std::vector<Interval>>(), graph.addComputeSet()), graph_connection_error);
  EXPECT_THROW(popops::reduce(graph, foreign.slice(0, 0), FLOAT, {}, popops::Operation::ADD, p), graph_connection_error);
  fails([&] { popops::map(graph, _1 + 0.5f, {i}, p); }, "the constant 0.5 does not fit type int");
  fails([&] { popops::add(graph, i, 1.5f, p); }, "do not go together");
  fails([&] { popops::addInPlace(graph, f, matrix, p); }, "mapInPlace");
  fails([&] { popops::gtInPlace(graph, f, f, p); }, "the result has type bool, the tensor to write float");
  fails([&] { popops::addInPlace(graph, three.slice(0, 1).broadcast(4, 0), f, p); }, "not parallel writeable");
  fails([&] { popops::mapWithOutput(graph, _1 + 1, {f}, graph.addConstant<float>(FLOAT, {4}, 1.0f), p); }, "not parallel writeable");
  fails([&] { popops::mapWithOutput(graph, _1, {f}, h, p); }, "the result has type float, the tensor to write half");
  fails([&] { popops::mapInPlace(graph, std::vector<Any>{_1, _1}, {f}, p); }, "2 expressions for 1 tensors");
  fails([&] { popops::mapInPlace(graph, std::vector<Any>{_1, _1}, {f, f}, p); }, "two results share elements");
  fails([&] { popops::mapWithOutput(graph, std::vector<Any>{_1}, {f}, {f, f}, p); }, "1 expressions for 2 outputs");
  fails([&] { popops::createOutputForElementWiseOp(graph, {}, FLOAT); }, "no inputs");
  try {
    popops::map(graph, _1 + 1, {f}, p, {}, {{"enableGenerateCodelets", "true"}});
    ADD_FAILURE();
  } catch (const poplar::invalid_option& e) { EXPECT_THAT(e.what(), testing::HasSubstr("Unrecognised option 'enableGenerateCodelets'")); }
  EXPECT_THROW(popops::map(graph, _1 + 1, {f}, p, {}, {{"enableGenerateCodelet", "yes"}}), poplar::invalid_option);
}

TEST(ElementWiseMap, TheGeneratedCodeletIsShown) {
  Graph graph(device_of(Machine::ipu1).getTarget());
  const Tensor x = graph.addVariable(FLOAT, {4}), y = graph.addVariable(HALF, {});
  std::ostringstream text;
  popops::outputGeneratedCodelet(graph.getTarget(), Tanh(_1 * 2.0f) + Cast(_2, FLOAT), {x, y}, {}, text);
  EXPECT_THAT(text.str(), testing::AllOf(testing::HasSubstr("class Fused_"), testing::HasSubstr("Vector<half>>> in1"),
                                         testing::HasSubstr("pando_unary(")));
}

TEST(ElementWiseMap, ExpressionsPrintCompareAndHaveNames) {
  std::ostringstream text;
  text << Tanh(_1 * 0.5f) + Cast(_2, HALF);
  EXPECT_EQ(text.str(), "ADD(TANH(MULTIPLY(_1, Const(0.5))), Cast<half>(_2))");
  EXPECT_TRUE(deepEquals(_1 + 2, _1 + 2));
  EXPECT_FALSE(deepEquals(_1 + 2, _1 + 3));
  EXPECT_FALSE(deepEquals(_1 + 2, _1 + 2.0f));
  EXPECT_FALSE(deepEquals(_1, _2));
  EXPECT_EQ((_1 - 2).name({}), "SUBTRACT__1_Const_int_2");
  const Any any = Any(_1 * _2);
  EXPECT_NE(static_cast<const Expr&>(any).getAs<BinaryOp>(), nullptr);
  EXPECT_EQ(static_cast<const Expr&>(any).getAs<UnaryOp>(), nullptr);
  EXPECT_EQ(Const(-3).getDataAsDouble(), -3);
  EXPECT_THROW(Const(1.5f).getDataForUnsignedIntegral(), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
