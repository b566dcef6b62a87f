// Graphs of expressions and their programs: what is rewritten, folded and shared, and that programs compute what their nodes say.
#include "program_writer.h"

#include <gtest/gtest.h>

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

// Runs the program over `n` elements per operand; all operands and results are floats.
std::vector<std::vector<float>> run(const Dag& dag, const std::vector<std::vector<float>>& in, std::size_t n) {
  std::vector<ProgramOperand> operands(20, ProgramOperand{FLOAT});
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
    code[program->output_at(r) + 1] = static_cast<std::uint32_t>(r);
    to.push_back({out[r].data(), n});
  }
  const kernels::Rows ins[4] = {{nullptr, 0}, {nullptr, 0}, {from.data(), from.size()}, {nullptr, 0}};
  const kernels::Rows outs[4] = {{nullptr, 0}, {nullptr, 0}, {to.data(), to.size()}, {nullptr, 0}};
  pando_program(code.data(), ins, outs);
  return out;
}

// The dumb way: every node on its own, over whole arrays.
std::vector<float> by_node(const Dag& dag, const std::vector<std::vector<float>>& in, std::size_t n) {
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
  return values[static_cast<std::size_t>(dag.results[0])];
}

TEST(ExpressionProgram, RandomExpressionsComputeWhatTheirNodesSay) {
  std::uint32_t state = 1;
  const auto random = [&](unsigned n) { return (state = state * 1664525u + 1013904223u) >> 8 & 0xffff ? (state >> 16) % n : 0; };
  const std::function<Any(unsigned)> grow = [&](unsigned depth) -> Any {
    if (depth == 0) {
      if (random(4) == 0) return Const(static_cast<float>(random(9)) - 4.0f);
      return PlaceHolder(1 + random(5));
    }
    const Any a = grow(depth - 1), b = grow(random(depth));
    switch (random(9)) {
      case 0: return a + b;
      case 1: return a - b;
      case 2: return b - a;
      case 3: return a * b;
      case 4: return Max(a, b);
      case 5: return Min(b, a);
      case 6: return Tanh(a);
      case 7: return Clamp(a, b, Const(3.0f));
      default: return Neg(a);
    }
  };
  std::vector<std::vector<float>> in(5);
  for (std::size_t k = 0; k < in.size(); ++k)
    for (std::size_t i = 0; i < 700; ++i) in[k].push_back(static_cast<float>(std::sin(static_cast<double>(i * (k + 3)))));
  for (unsigned trial = 0; trial < 400; ++trial) {
    const Any e = grow(1 + trial % 6);
    const Expr& expression = e;
    for (const bool optimise : {false, true}) {
      const Dag dag = dag_of(expression, optimise);
      const std::size_t n = trial % 3 == 0 ? 700 : 1 + trial;
      const std::vector<float> expected = by_node(dag, in, 700), found = run(dag, in, n)[0];
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])))
            << expression << " at " << i << ": " << found[i] << ", not " << expected[i];
    }
  }
}

TEST(ExpressionProgram, ChainsOfFloatOperationsAreOneInstruction) {
  const auto instructions = [](const Expr& e) {
    const std::optional<Program> p = write_program(dag_of(e), std::vector<ProgramOperand>(20, ProgramOperand{FLOAT}));
    return p->words[1] >> 16;
  };
  EXPECT_EQ(instructions(_1 * _2 + _3), 1u);
  EXPECT_EQ(instructions(Max((_1 * _2 + _3) * 0.5f - _1, Const(0.0f))), 1u);
  EXPECT_EQ(instructions((_1 * _2) * (_1 * _2)), 2u);  // the product has two readers
  EXPECT_EQ(instructions(_1 * _2 + _3 * _4), 2u);      // one of the products is the other's operand
  EXPECT_EQ(instructions(_1 / _2 + Exp(_3)), 2u);
  Any sum = _1 * _2;
  for (unsigned i = 0; i < kernels::kMostLinks; ++i) sum = _3 - sum;
  EXPECT_EQ(instructions(sum), 2u);
}

TEST(ExpressionProgram, TooManyValuesAreRefused) {
  Any wide = _1 * 1.5f;
  for (int i = 0; i < 300; ++i) wide = wide + _1 * (2.5f + static_cast<float>(i));
  EXPECT_FALSE(write_program(dag_of(wide), std::vector<ProgramOperand>(20, ProgramOperand{FLOAT})).has_value());
}

}  // namespace
}  // namespace popops::internal
