// Graphs of expressions and their programs: what is rewritten, folded and shared, and that programs compute what their nodes say.
#include "program_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernels/elementwise/elementwise_program.h"

namespace popops::internal {
namespace {

using namespace poplar;
using namespace popops::expr;
namespace kernels = pando::kernels;

const std::vector<Type> kFloats(20, FLOAT);

Dag dag_of(const Expr& e, bool optimise = true, const std::vector<Type>& types = kFloats) {
  return build_dag({&e}, types, optimise, "test");
}

unsigned functions_of(const Dag& dag) {
  const std::vector<bool> needed = dag.needed();
  unsigned out = 0;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    out += needed[i] && dag.nodes[i].kind != NodeKind::operand && dag.nodes[i].kind != NodeKind::constant ? 1 : 0;
  return out;
}
const Node& result_of(const Dag& dag) { return dag.nodes[static_cast<std::size_t>(dag.results[0])]; }

TEST(ExpressionGraph, Simplifies) {
  const struct {
    Any expression;
    unsigned before, after;
  } rows[] = {
      {_1 * 1.0f, 1, 0},
      {1 * _1, 1, 0},
      {_1 / 1, 1, 0},
      {_1 - 0.0f, 1, 0},
      {_1 + -0.0f, 1, 0},
      {_1 + 0.0f, 1, 1},
      {-(-_1), 2, 0},
      {UnaryOp(UnaryOpType::ABSOLUTE, Abs(_1)), 2, 1},
      {_1 + -_2, 2, 1},
      {_1 - -_2, 2, 1},
      {Pow(_1, Const(1)), 1, 0},
      {Cast(_1, FLOAT), 1, 0},
      {Select(_1, _1, _2 > _3), 2, 0},
      {Select(_1, _2, Const(true)), 1, 0},
      {Const(2.0f) * 3 + _1, 2, 1},
      {Exp(_1) * Exp(_1), 3, 2},
      {(_1 + _2) * (_1 + _2) - (_1 + _2), 5, 3},
  };
  for (const auto& row : rows) {
    const Expr& e = row.expression;
    EXPECT_EQ(functions_of(dag_of(e, false)), row.before) << e;
    EXPECT_EQ(functions_of(dag_of(e, true)), row.after) << e;
  }
  const auto op = [](const Expr& e) { return static_cast<UnaryOpType>(result_of(dag_of(e)).op); };
  EXPECT_EQ(op(Pow(_1, Const(2))), UnaryOpType::SQUARE);
  EXPECT_EQ(op(Pow(_1, Const(0.5))), UnaryOpType::SQRT);
  EXPECT_EQ(op(Pow(_1, Const(-0.5))), UnaryOpType::RSQRT);
  EXPECT_EQ(op(Pow(_1, Const(-1))), UnaryOpType::INVERSE);
  EXPECT_EQ(static_cast<BinaryOpType>(result_of(dag_of(_1 / 8)).op), BinaryOpType::MULTIPLY);
  EXPECT_EQ(static_cast<BinaryOpType>(result_of(dag_of(_1 / 3)).op), BinaryOpType::DIVIDE);
}

// Runs the program over `n` elements per operand; all operands and results are floats. Result r lies where operand overwritten[r] does, if
// that is none of -1.
std::vector<std::vector<float>> run(const Dag& dag, const std::vector<std::vector<float>>& in, std::size_t n,
                                    const std::vector<int>& overwritten = {}) {
  std::vector<ProgramOperand> operands(20, ProgramOperand{FLOAT});
  for (std::size_t r = 0; r < overwritten.size(); ++r)
    if (overwritten[r] >= 0) operands[static_cast<std::size_t>(overwritten[r])].in_place = static_cast<int>(r);
  const std::optional<Program> program = write_program(dag, operands);
  EXPECT_TRUE(program.has_value());
  std::vector<std::uint32_t> code = program->words;
  std::vector<kernels::Row> from, to;
  std::vector<std::vector<float>> out(dag.results.size(), std::vector<float>(n));
  for (std::size_t i = 0; i < program->operands.size(); ++i) {
    code[program->operand_at(i) + 1] = static_cast<std::uint32_t>(i);
    from.push_back({const_cast<float*>(in[static_cast<std::size_t>(program->operands[i])].data()), n});
  }
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (r < overwritten.size() && overwritten[r] >= 0) {
      const std::vector<float>& contents = in[static_cast<std::size_t>(overwritten[r])];
      out[r].assign(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(n));
    }
    code[program->output_at(r) + 1] = static_cast<std::uint32_t>(r);
    to.push_back({out[r].data(), n});
  }
  const kernels::Rows ins[4] = {{nullptr, 0}, {nullptr, 0}, {from.data(), from.size()}, {nullptr, 0}};
  const kernels::Rows outs[4] = {{nullptr, 0}, {nullptr, 0}, {to.data(), to.size()}, {nullptr, 0}};
  pando_program(code.data(), ins, outs);
  return out;
}

// The dumb way: every node on its own, over whole arrays.
std::vector<std::vector<float>> by_node(const Dag& dag, const std::vector<std::vector<float>>& in, std::size_t n) {
  std::vector<std::vector<float>> values;
  for (const Node& node : dag.nodes) {
    std::vector<float> v(n);
    const auto arg = [&](unsigned k) { return values[static_cast<std::size_t>(node.arguments[k])].data(); };
    if (node.kind == NodeKind::operand)
      v = in[node.operand];
    else if (node.kind == NodeKind::constant)
      std::fill(v.begin(), v.end(), __builtin_bit_cast(float, static_cast<std::uint32_t>(node.value)));
    else if (node.kind == NodeKind::unary)
      pando_unary(static_cast<kernels::Unary>(node.op), kernels::Type::f32, arg(0), v.data(), n);
    else if (node.kind == NodeKind::binary)
      pando_binary(static_cast<kernels::Binary>(node.op), kernels::Type::f32, arg(0), arg(1), v.data(), n);
    else
      pando_clamp(kernels::Type::f32, arg(0), arg(1), arg(2), v.data(), n);
    values.push_back(std::move(v));
  }
  std::vector<std::vector<float>> results;
  for (const int r : dag.results) results.push_back(values[static_cast<std::size_t>(r)]);
  return results;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Expressions over _1 ... _5 with numbers in them; the same ones in each run.
class Grower {
 public:
  unsigned random(unsigned n) { return (state_ = state_ * 1664525u + 1013904223u) >> 8 & 0xffff ? (state_ >> 16) % n : 0; }
  Any grow(unsigned depth) {
    if (depth == 0) {
      if (random(4) == 0) return Const(static_cast<float>(random(9)) - 4.0f);
      return PlaceHolder(1 + random(5));
    }
    const Any a = grow(depth - 1), b = grow(random(depth));
    switch (random(11)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return b - a;
      case 3: return a * b;
      case 4: return Max(a, b);
      case 5: return Min(b, a);
      case 6: return Tanh(a);
      case 7: return Clamp(a, b, Const(3.0f));
      case 8: return a * PlaceHolder(1 + random(5)) + b * PlaceHolder(1 + random(5));
      case 9: return Square(a) + b;
      default: return Neg(a);
    }
  }

 private:
  std::uint32_t state_ = 1;
};

std::vector<std::vector<float>> waves() {
  std::vector<std::vector<float>> in(5);
  for (std::size_t k = 0; k < in.size(); ++k)
    for (std::size_t i = 0; i < 700; ++i) in[k].push_back(static_cast<float>(std::sin(static_cast<double>(i * (k + 3)))));
  return in;
}

TEST(ExpressionProgram, RandomExpressionsComputeWhatTheirNodesSay) {
  Grower grower;
  const std::vector<std::vector<float>> in = waves();
  for (unsigned trial = 0; trial < 400; ++trial) {
    const Any e = grower.grow(1 + trial % 6);
    const Expr& expression = e;
    for (const bool optimise : {false, true}) {
      const Dag dag = dag_of(expression, optimise);
      const std::size_t n = trial % 3 == 0 ? 700 : 1 + trial;
      const std::vector<float> expected = by_node(dag, in, 700)[0], found = run(dag, in, n)[0];
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(found[i], expected[i])) << expression << " at " << i << ": " << found[i] << ", not " << expected[i];
    }
  }
}

// Of which some read each other, as an optimiser's moments and weights do, and some overwrite operands that the others read.
TEST(ExpressionProgram, SeveralResultsComputeWhatTheirNodesSay) {
  Grower grower;
  const std::vector<std::vector<float>> in = waves();
  for (unsigned trial = 0; trial < 600; ++trial) {
    std::vector<Any> results;
    std::vector<const Expr*> expressions;
    for (unsigned r = 0, count = 2 + trial % 3; r < count; ++r) {
      Any e = grower.grow((trial + r) % 5);  // an operand itself, too
      if (r > 0 && grower.random(2) == 0) e = results[grower.random(r)] * PlaceHolder(1 + grower.random(5)) + e;
      results.push_back(e);
    }
    for (const Any& e : results) expressions.push_back(&static_cast<const Expr&>(e));
    std::vector<int> overwritten(results.size(), -1);
    for (std::size_t r = 0; r < results.size(); ++r) {
      const int operand = static_cast<int>(grower.random(5));
      if (grower.random(2) == 0 && std::find(overwritten.begin(), overwritten.end(), operand) == overwritten.end())
        overwritten[r] = operand;
    }
    const Dag dag = build_dag(expressions, kFloats, true, "test");
    const std::size_t n = trial % 3 == 0 ? 700 : 1 + trial % 500;
    const auto expected = by_node(dag, in, 700), found = run(dag, in, n, overwritten);
    for (std::size_t r = 0; r < results.size(); ++r)
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(found[r][i], expected[r][i])) << "trial " << trial << ", result " << r << ' ' << *expressions[r] << " at " << i
                                                       << ": " << found[r][i] << ", not " << expected[r][i];
  }
}

// One chain is all that is left to do, and it is not the first result's.
TEST(ExpressionProgram, AResultThatStaysIsNotOverwritten) {
  const std::vector<std::vector<float>> in = waves();
  const Any kept = _1, sum = _2 + _1 * 0.25f;
  const Dag dag = build_dag({&static_cast<const Expr&>(kept), &static_cast<const Expr&>(sum)}, kFloats, true, "test");
  const auto expected = by_node(dag, in, 700), found = run(dag, in, 700, {0, 1});
  EXPECT_EQ(found[0], expected[0]);
  EXPECT_EQ(found[1], expected[1]);
}

TEST(ExpressionProgram, MomentsAndWeightsAreTwoChains) {
  const Any m = _1 * 0.9f + _4 * 0.1f, v = _2 * 0.99f + Square(_4) * 0.01f, w = _3 + m * _5 / (Sqrt(v * _5) + 1e-7f) * -0.1f;
  std::vector<ProgramOperand> operands(20, ProgramOperand{FLOAT});
  for (int r = 0; r < 3; ++r) operands[static_cast<std::size_t>(r)].in_place = r;
  const Expr *const first = &static_cast<const Expr&>(m), *const second = &static_cast<const Expr&>(v),
                    *const third = &static_cast<const Expr&>(w);
  EXPECT_EQ(write_program(build_dag({first, second, third}, kFloats, true, "test"), operands)->words[1] >> 16, 2u);
}

TEST(ExpressionProgram, ChainsOfFloatOperationsAreOneInstruction) {
  const auto instructions = [](const Expr& e) {
    const std::optional<Program> p = write_program(dag_of(e), std::vector<ProgramOperand>(20, ProgramOperand{FLOAT}));
    return p->words[1] >> 16;
  };
  EXPECT_EQ(instructions(_1 * _2 + _3), 1u);
  EXPECT_EQ(instructions(Max((_1 * _2 + _3) * 0.5f - _1, Const(0.0f))), 1u);
  EXPECT_EQ(instructions((_1 * _2) * (_1 * _2)), 2u);  // the product has two readers
  EXPECT_EQ(instructions(_1 * _2 + _3 * _4), 1u);
  EXPECT_EQ(instructions((_1 - _2) + (_3 - _4)), 2u);  // one of the differences is the other's operand
  EXPECT_EQ(instructions(_1 / _2 + Exp(_3)), 2u);
  Any sum = _1 * _2;
  for (unsigned i = 0; i < kernels::kMostLinks; ++i) sum = _3 - sum;
  EXPECT_EQ(instructions(sum), 2u);
}

TEST(ExpressionProgram, TooManyValuesAreRejected) {
  Any wide = _1 * 1.5f;
  for (int i = 0; i < 300; ++i) wide = wide + _1 * (2.5f + static_cast<float>(i));
  EXPECT_FALSE(write_program(dag_of(wide), std::vector<ProgramOperand>(20, ProgramOperand{FLOAT})).has_value());
}

}  // namespace
}  // namespace popops::internal
