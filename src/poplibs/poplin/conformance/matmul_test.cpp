// Products of matrices against a triple loop in double: types x shapes x mappings x machines.
#include "oplib.h"

#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <sstream>

namespace {

using namespace oplib;
using namespace poplar;
using program::Sequence;

struct Dims {
  std::size_t groups, m, k, n;
};

std::string text_of(const Dims& d) {
  return std::to_string(d.groups) + "x(" + std::to_string(d.m) + "x" + std::to_string(d.k) + ")*(" + std::to_string(d.k) + "x" +
         std::to_string(d.n) + ")";
}

Operand left(const Dims& d, const Type& type, Mapping mapping = Mapping::linear) {
  return operand("A", type, {d.groups, d.m, d.k}, uniform(-1, 1, 1), mapping);
}
Operand right(const Dims& d, const Type& type, Mapping mapping = Mapping::linear) {
  return operand("B", type, {d.groups, d.k, d.n}, uniform(-1, 1, 2), mapping);
}

// scale * A * B, plus `start`.
std::vector<double> reference(const Dims& d, const Values& a, const Values& b, double scale = 1, const Values* start = nullptr) {
  std::vector<double> c(d.groups * d.m * d.n);
  for (std::size_t g = 0; g < d.groups; ++g)
    for (std::size_t i = 0; i < d.m; ++i)
      for (std::size_t j = 0; j < d.n; ++j) {
        double sum = 0;
        for (std::size_t l = 0; l < d.k; ++l) sum += a[(g * d.m + i) * d.k + l] * b[(g * d.k + l) * d.n + j];
        const std::size_t at = (g * d.m + i) * d.n + j;
        c[at] = scale * sum + (start != nullptr ? (*start)[at] : 0);
      }
  return c;
}

// Sums of k products of numbers up to 1, in float; halfs are rounded on the way out, and half partial sums more often.
Tolerance tolerance(const Dims& d, const Type& output, bool half_partials = false) {
  const double grows = std::sqrt(static_cast<double>(d.k) + 1);
  if (half_partials) return {4e-3, 2e-3 * grows};
  if (output == HALF) return {1e-3, 1e-6 * grows};
  return {1e-6, 1e-6 * grows};
}

const Dims kShapes[] = {{1, 1, 1, 1},    {1, 1, 7, 33},   {1, 33, 7, 1},   {1, 5, 1, 5},   {1, 16, 16, 16},
                        {1, 31, 33, 35}, {1, 64, 48, 80}, {1, 1, 1000, 3}, {1, 3, 300, 2}, {1, 130, 3, 140},
                        {3, 17, 19, 5},  {7, 1, 8, 9},    {40, 2, 3, 4},   {2, 50, 70, 90}};

TEST(MatMul, MultipliesEveryShapeOnEveryMachine) {
  for (const Machine machine : kMachines)
    for (const Dims& d : kShapes) {
      const Operand a = left(d, FLOAT), b = right(d, FLOAT);
      const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        if (d.groups > 1) return std::vector<Tensor>{poplin::matMulGrouped(g, in[0], in[1], prog, FLOAT, "product")};
        return std::vector<Tensor>{poplin::matMul(g, in[0][0], in[1][0], prog, "product")};
      });
      EXPECT_EQ(out[0].shape, d.groups > 1 ? (std::vector<std::size_t>{d.groups, d.m, d.n}) : (std::vector<std::size_t>{d.m, d.n}));
      expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), name_of(machine) + " " + text_of(d));
    }
}

TEST(MatMul, TakesEveryMapping) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Dims& d : {Dims{1, 13, 21, 34}, Dims{3, 16, 8, 24}}) {
        const Operand a = left(d, FLOAT, mapping), b = right(d, FLOAT, mapping);
        const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          return std::vector<Tensor>{poplin::matMulGrouped(g, in[0], in[1], prog, FLOAT)};
        });
        expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), name_of(machine) + " " + name_of(mapping) + " " + text_of(d));
      }
}

TEST(MatMul, TakesTypesAndPartials) {
  struct Types {
    Type input, output;
    const char* partials;
  };
  for (const Machine machine : kMachines)
    for (const Types& t : {Types{HALF, HALF, "float"}, Types{HALF, FLOAT, "float"}, Types{HALF, HALF, "half"}, Types{HALF, FLOAT, "half"},
                           Types{FLOAT, HALF, "float"}, Types{FLOAT, FLOAT, "half"}})
      for (const Dims& d : {Dims{1, 1, 1, 1}, Dims{1, 37, 300, 70}, Dims{2, 16, 64, 16}, Dims{1, 1, 700, 5}}) {
        const Operand a = left(d, t.input), b = right(d, t.input);
        const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          return std::vector<Tensor>{poplin::matMulGrouped(g, in[0], in[1], prog, t.output, "product", {{"partialsType", t.partials}})};
        });
        EXPECT_EQ(out[0].type, t.output);
        const bool half_partials = t.input == HALF && t.partials == std::string("half");
        expect_close(out[0], reference(d, a, b), tolerance(d, t.output, half_partials),
                     name_of(machine) + " " + t.input.toString() + " to " + t.output.toString() + " by " + t.partials + " " + text_of(d));
      }
}

TEST(MatMul, MultipliesTransposedAndSlicedViews) {
  const Dims d{1, 19, 26, 31};
  for (const Machine machine : kMachines) {
    const Operand a = operand("At", FLOAT, {d.k, d.m}, uniform(-1, 1, 3)), b = operand("Bt", FLOAT, {d.n + 4, d.k}, uniform(-1, 1, 4));
    Operand plain_a = a, plain_b = b;
    for (std::size_t i = 0; i < d.m; ++i)
      for (std::size_t l = 0; l < d.k; ++l) plain_a.values[i * d.k + l] = a[l * d.m + i];
    for (std::size_t l = 0; l < d.k; ++l)
      for (std::size_t j = 0; j < d.n; ++j) plain_b.values[l * d.n + j] = b[(j + 2) * d.k + l];
    const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      return std::vector<Tensor>{poplin::matMul(g, in[0].transpose(), in[1].slice(2, 2 + d.n).transpose(), prog)};
    });
    expect_close(out[0], reference(d, plain_a, plain_b), tolerance(d, FLOAT), name_of(machine));
  }
}

// Heads of attention: rows that lie apart from each other are read there, or copied first.
TEST(MatMul, RowsApartAreReadOrCopied) {
  const Dims d{3, 20, 24, 28};
  const Operand a = operand("A", FLOAT, {d.m, d.groups, d.k}, uniform(-1, 1, 3)),
                b = operand("B", FLOAT, {d.k, d.groups, d.n}, uniform(-1, 1, 4));
  Values plain_a = left(d, FLOAT), plain_b = right(d, FLOAT);
  for (std::size_t g = 0; g < d.groups; ++g)
    for (std::size_t l = 0; l < d.k; ++l) {
      for (std::size_t i = 0; i < d.m; ++i) plain_a.values[(g * d.m + i) * d.k + l] = a[(i * d.groups + g) * d.k + l];
      for (std::size_t j = 0; j < d.n; ++j) plain_b.values[(g * d.k + l) * d.n + j] = b[(l * d.groups + g) * d.n + j];
    }
  for (const char* apart : {"true", "false"}) {
    const auto out = run(Machine::cpu, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor c = poplin::matMulGrouped(g, in[0].dimShuffle({1, 0, 2}), in[1].dimShuffle({1, 0, 2}), prog, FLOAT, "product",
                                             {{"pando.rowsApart", apart}});
      // Copies of operands would be variables of the product.
      std::ostringstream text;
      g.serialize(text);
      EXPECT_EQ(text.str().find("'product/A'") == std::string::npos, std::string(apart) == "true");
      return std::vector<Tensor>{c};
    });
    expect_close(out[0], reference(d, plain_a, plain_b), tolerance(d, FLOAT), apart);
  }
}

// As a weight's gradient has them: large, and the rows of A lie turned, whole or as parts of longer ones.
TEST(MatMul, TurnsALargeOperandOnceOrInEachPart) {
  for (const std::size_t groups : {1, 2}) {
    const Dims d{groups, 300, 333, 420 * groups};
    const Operand a = operand("A", FLOAT, {d.k, d.groups, d.m}, uniform(-1, 1, 3)), b = right(d, FLOAT);
    Values plain_a = left(d, FLOAT);
    for (std::size_t l = 0; l < d.k; ++l)
      for (std::size_t g = 0; g < d.groups; ++g)
        for (std::size_t i = 0; i < d.m; ++i) plain_a.values[(g * d.m + i) * d.k + l] = a[(l * d.groups + g) * d.m + i];
    for (const char* turns : {"true", "false"}) {
      const auto out = run(Machine::cpu, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor c =
            poplin::matMulGrouped(g, in[0].dimShuffle({1, 2, 0}), in[1], prog, FLOAT, "product", {{"pando.turnsOperands", turns}});
        std::ostringstream text;
        g.serialize(text);
        EXPECT_EQ(text.str().find("'product/A'") != std::string::npos, std::string(turns) == "true");
        return std::vector<Tensor>{c};
      });
      expect_close(out[0], reference(d, plain_a, b), tolerance(d, FLOAT), turns);
    }
  }
}

TEST(MatMul, ReadsRowsApartInAVariableOfAnotherType) {
  const Dims d{3, 20, 24, 28};
  const Operand a = operand("A", FLOAT, {d.m, d.groups, d.k}, uniform(-1, 1, 3)), b = right(d, FLOAT);
  Values plain_a = left(d, FLOAT);
  for (std::size_t g = 0; g < d.groups; ++g)
    for (std::size_t i = 0; i < d.m; ++i)
      for (std::size_t l = 0; l < d.k; ++l) plain_a.values[(g * d.m + i) * d.k + l] = a[(i * d.groups + g) * d.k + l];
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor bits = g.clone(poplar::UNSIGNED_INT, in[0]);
      prog.add(poplar::program::Copy(in[0].reinterpret(poplar::UNSIGNED_INT), bits));
      return std::vector<Tensor>{poplin::matMulGrouped(g, bits.reinterpret(FLOAT).dimShuffle({1, 0, 2}), in[1], prog, FLOAT)};
    });
    expect_close(out[0], reference(d, plain_a, b), tolerance(d, FLOAT), name_of(machine));
  }
}

TEST(MatMul, MultipliesAMatrixWithItself) {
  const Dims d{1, 24, 24, 24};
  for (const Machine machine : kMachines) {
    const Operand a = left(d, FLOAT);
    const auto out = run(machine, {a}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      return std::vector<Tensor>{poplin::matMul(g, in[0][0], in[0][0], prog),
                                 poplin::matMul(g, in[0][0].slice(0, 1).broadcast(24, 0), in[0][0], prog)};
    });
    Operand rows = a;
    for (std::size_t i = 0; i < rows.size(); ++i) rows.values[i] = a[i % 24];
    expect_close(out[0], reference(d, a, a), tolerance(d, FLOAT), name_of(machine));
    expect_close(out[1], reference(d, rows, a), tolerance(d, FLOAT), name_of(machine));
  }
}

TEST(MatMul, WritesGivenOutputs) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Dims& d : {Dims{1, 23, 45, 12}, Dims{2, 8, 300, 9}, Dims{1, 6, 0, 5}}) {
        const Operand a = left(d, FLOAT), b = right(d, FLOAT), c = operand("C", FLOAT, {d.groups, d.m, d.n}, uniform(-1, 1, 5), mapping);
        const auto out = run(machine, {a, b, c}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          if (d.groups > 1) {
            poplin::matMulGroupedWithOutput(g, in[0], in[1], in[2], prog);
          } else {
            Tensor matrix = in[2][0];
            poplin::matMulWithOutput(g, in[0][0], in[1][0], matrix, prog);
          }
          return std::vector<Tensor>{in[2]};
        });
        expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), name_of(machine) + " " + name_of(mapping) + " " + text_of(d));
      }
}

// As the gradient of a transposed operand goes into what it is a view of: without a vertex, or an operand, for each broken row.
TEST(MatMul, AResultThatLiesTurnedOrApartHasTheBitsOfOneThatIsWhole) {
  for (const Dims& d : {Dims{3, 20, 24, 28}, Dims{1, 70, 130, 64}, Dims{2, 9, 7, 1}}) {
    const Operand a = left(d, FLOAT), b = right(d, FLOAT), c = operand("C", FLOAT, {d.groups, d.n, d.m, 2}, uniform(-1, 1, 5));
    const auto out = run(Machine::cpu, {a, b, c}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor whole = poplin::matMulGrouped(g, in[0], in[1], prog, FLOAT);
      const Tensor place = g.addVariable(FLOAT, {d.groups, d.n, d.m});
      g.setTileMapping(place, 0);
      Tensor turned = place.dimShuffle({0, 2, 1}), apart = in[2].slice(0, 1, 3).squeeze({3}).dimShuffle({0, 2, 1});
      poplin::matMulGroupedWithOutput(g, in[0], in[1], turned, prog);
      poplin::matMulGroupedWithOutput(g, in[0], in[1], apart, prog);
      std::ostringstream text;
      g.serialize(text);
      EXPECT_EQ(text.str().find("SumPartials"), std::string::npos);
      return std::vector<Tensor>{whole, turned, apart, in[2].slice(1, 2, 3)};
    });
    expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), text_of(d));
    EXPECT_EQ(out[1].values, out[0].values) << text_of(d);
    EXPECT_EQ(out[2].values, out[0].values) << text_of(d);
    for (std::size_t i = 0; i < out[3].values.size(); ++i) EXPECT_EQ(out[3].values[i], c.values[2 * i + 1]);
  }
}

TEST(MatMul, WritesItsResultOverAnOperand) {
  const Dims d{1, 24, 24, 24};
  for (const Machine machine : kMachines) {
    const Operand a = left(d, FLOAT), b = right(d, FLOAT);
    const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      Tensor c = in[0][0];
      poplin::matMulWithOutput(g, in[0][0], in[1][0], c, prog);
      return std::vector<Tensor>{c};
    });
    expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), name_of(machine));
  }
}

TEST(MatMul, Accumulates) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const bool tensor : {false, true})
          for (const Dims& d : {Dims{1, 23, 45, 12}, Dims{2, 8, 30, 9}, Dims{1, 4, 0, 5}}) {
            const Operand a = left(d, type), b = right(d, type), c = operand("C", type, {d.groups, d.m, d.n}, uniform(-1, 1, 5), mapping);
            const Operand k = operand("k", type, {1}, [](std::size_t) { return -0.5; });
            const auto out = run(machine, {a, b, c, k}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              if (d.groups > 1 && tensor)
                poplin::matMulGroupedAcc(g, in[2], in[3][0], in[0], in[1], prog);
              else if (d.groups > 1)
                poplin::matMulGroupedAcc(g, in[2], -0.5f, in[0], in[1], prog);
              else if (tensor)
                poplin::matMulAcc(g, in[2][0], in[3][0], in[0][0], in[1][0], prog);
              else
                poplin::matMulAcc(g, in[2][0], -0.5f, in[0][0], in[1][0], prog);
              return std::vector<Tensor>{in[2]};
            });
            expect_close(out[0], reference(d, a, b, -0.5, &c), tolerance(d, type),
                         name_of(machine) + " " + name_of(mapping) + " " + text_of(d));
          }
}

TEST(MatMul, AFactorThatIsAConstantNeedsNoTile) {
  const Dims d{1, 8, 30, 9};
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF}) {
      const Operand a = left(d, type), b = right(d, type), c = operand("C", type, {1, d.m, d.n}, uniform(-1, 1, 5));
      const auto out = run(machine, {a, b, c}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        poplin::matMulAcc(g, in[2][0], g.addConstant(type, {}, -0.5f), in[0][0], in[1][0], prog);
        return std::vector<Tensor>{in[2]};
      });
      expect_close(out[0], reference(d, a, b, -0.5, &c), tolerance(d, type), name_of(machine));
    }
}

TEST(MatMul, CreatedOperandsAndOutputsFit) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Dims& d : kShapes) {
        const Operand a = left(d, type), b = right(d, type);
        const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          poplin::PlanningCache cache;
          const std::vector<std::size_t> sa = in[0].shape(), sb = in[1].shape();
          const Tensor x = poplin::createMatMulGroupedInputLHS(g, type, type, sa, sb, "x", {}, &cache);
          const Tensor y = poplin::createMatMulGroupedInputRHS(g, type, type, sa, sb, "y", {}, &cache);
          Tensor z = poplin::createMatMulGroupedOutput(g, type, type, sa, sb, "z", {}, &cache);
          EXPECT_EQ(x.shape(), sa);
          EXPECT_EQ(y.shape(), sb);
          EXPECT_TRUE(z.isParallelWriteable());
          prog.add(program::Copy(in[0], x));
          prog.add(program::Copy(in[1], y));
          poplin::matMulGroupedWithOutput(g, x, y, z, prog, {}, {}, &cache);
          return std::vector<Tensor>{z, poplin::matMulGrouped(g, x, y, prog, type, {}, {}, &cache)};
        });
        for (const Values& v : out) expect_close(v, reference(d, a, b), tolerance(d, type), name_of(machine) + " " + text_of(d));
      }
}

// Variables that hold rearranged operands.
std::size_t arranged_variables(const Graph& g) {
  std::ostringstream out;
  g.serialize(out);
  const std::string text = out.str();
  std::size_t count = 0;
  for (std::size_t at = text.find("/arranged'"); at != std::string::npos; at = text.find("/arranged'", at + 1)) ++count;
  return count;
}

TEST(MatMul, CreatedOperandsAreNotMoved) {
  Graph g(device_of(Machine::full).getTarget());
  poplin::addCodelets(g);
  const std::vector<std::size_t> a = {300, 400}, b = {400, 200};
  const Tensor x = poplin::createMatMulInputLHS(g, FLOAT, a, b, "x"), y = poplin::createMatMulInputRHS(g, FLOAT, a, b, "y");
  Sequence prog;
  poplin::matMul(g, x, y, prog, "first");
  EXPECT_EQ(arranged_variables(g), 0u);
  poplin::matMul(g, g.addVariable(FLOAT, a, VariableMappingMethod::LINEAR, "plain"), y, prog, "second");
  EXPECT_EQ(arranged_variables(g), 1u);
}

// Weights of a layer in training: forward, gradient of the input, and update, without moving the weights.
TEST(MatMul, TrainsWeightsWhereTheyAre) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const char* partials : {"float", "half"})
        for (const Dims& d : {Dims{1, 8, 40, 24}, Dims{1, 70, 33, 90}, Dims{3, 5, 20, 17}, Dims{1, 1, 300, 1}, Dims{1, 16, 600, 300}}) {
          if (d.k > 500 && type == HALF) continue;
          const Operand x = left(d, type), w = right(d, type), dy = operand("dy", type, {d.groups, d.m, d.n}, uniform(-1, 1, 7));
          const OptionFlags options = {{"partialsType", partials}, {"availableMemoryProportion", d.k > 500 ? "0.02" : "0.6"}};
          const auto out = run(machine, {x, w, dy}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            poplin::PlanningCache cache;
            const Tensor weights = poplin::createMatMulGroupedInputRHS(g, type, type, in[0].shape(), in[1].shape(), "w", options, &cache);
            prog.add(program::Copy(in[1], weights));
            const Tensor y = poplin::matMulGrouped(g, in[0], weights, prog, type, "forward", options, &cache);
            const std::size_t before = arranged_variables(g);
            const Tensor dx =
                poplin::matMulGrouped(g, in[2], poplin::transposeGroupedMatrix(weights), prog, type, "backward", options, &cache);
            OptionFlags update = options;
            update.set("fullyConnectedPass", "TRAINING_WU");
            const Tensor dw = poplin::matMulGrouped(g, poplin::transposeGroupedMatrix(in[0]), in[2], prog, type, "update", update, &cache);
            poplin::matMulGroupedAcc(g, weights, -0.25f, poplin::transposeGroupedMatrix(in[0]), in[2], prog, "step", options, &cache);
            if (machine != Machine::cpu) EXPECT_LE(arranged_variables(g), before + 5);  // X and dY only
            return std::vector<Tensor>{y, dx, dw, weights};
          });
          Operand xt = x, wt = w;
          for (std::size_t g = 0; g < d.groups; ++g) {
            for (std::size_t i = 0; i < d.m; ++i)
              for (std::size_t l = 0; l < d.k; ++l) xt.values[(g * d.k + l) * d.m + i] = x[(g * d.m + i) * d.k + l];
            for (std::size_t l = 0; l < d.k; ++l)
              for (std::size_t j = 0; j < d.n; ++j) wt.values[(g * d.n + j) * d.k + l] = w[(g * d.k + l) * d.n + j];
          }
          const bool half_partials = type == HALF && partials == std::string("half");
          const Dims back{d.groups, d.m, d.n, d.k}, update{d.groups, d.k, d.m, d.n};
          const std::string what = name_of(machine) + " " + type.toString() + " by " + partials + " " + text_of(d);
          expect_close(out[0], reference(d, x, w), tolerance(d, type, half_partials), "forward " + what);
          expect_close(out[1], reference(back, dy, wt), tolerance(back, type, half_partials), "backward " + what);
          expect_close(out[2], reference(update, xt, dy), tolerance(update, type, half_partials), "update " + what);
          expect_close(out[3], reference(update, xt, dy, -0.25, &w), tolerance(update, type, half_partials), "step " + what);
        }
}

TEST(MatMul, NoElementsIsLegal) {
  for (const Machine machine : kMachines)
    for (const Dims& d : {Dims{1, 0, 3, 4}, Dims{1, 3, 4, 0}, Dims{0, 3, 4, 5}, Dims{1, 3, 0, 4}}) {
      const auto out = run(machine, {operand("one", FLOAT, {1}, uniform(0, 1, 1))}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        const std::vector<std::size_t> a = {d.groups, d.m, d.k}, b = {d.groups, d.k, d.n};
        const Tensor x = poplin::createMatMulGroupedInputLHS(g, FLOAT, FLOAT, a, b, "x"),
                     y = poplin::createMatMulGroupedInputRHS(g, FLOAT, FLOAT, a, b, "y");
        return std::vector<Tensor>{poplin::matMulGrouped(g, x, y, prog, FLOAT), in[0]};
      });
      EXPECT_EQ(out[0].shape, (std::vector<std::size_t>{d.groups, d.m, d.n}));
      expect_close(out[0], std::vector<double>(d.groups * d.m * d.n, 0.0));
    }
}

TEST(MatMul, SerialStepsKeepToTheMemoryAskedFor) {
  const Dims d{1, 40, 900, 70};
  for (const Machine machine : {Machine::ipu1, Machine::ipu2})
    for (const Type& type : {FLOAT, HALF}) {
      const Operand a = left(d, type), b = right(d, type);
      const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poplin::matMul(g, in[0][0], in[1][0], prog, "product", {{"availableMemoryProportion", "0.01"}})};
      });
      expect_close(out[0], reference(d, a, b), tolerance(d, type), name_of(machine) + " " + type.toString());
    }
}

TEST(MatMul, PlansForTheHostsTime) {
  const OptionFlags options = {{"pando.planObjective", "hostTime"}};
  for (const Machine machine : kMachines)
    for (const Dims& d : {Dims{1, 130, 900, 70}, Dims{5, 20, 30, 40}}) {
      const Operand a = left(d, FLOAT), b = right(d, FLOAT);
      const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poplin::matMulGrouped(g, in[0], in[1], prog, FLOAT, "product", options)};
      });
      expect_close(out[0], reference(d, a, b), tolerance(d, FLOAT), name_of(machine) + " " + text_of(d));
    }
  // Few blocks in many serial steps: the operands' pieces still spread.
  Graph g(device_of(Machine::full).getTarget());
  const std::vector<std::size_t> shape = {2048, 2048};
  std::size_t most = 0;
  for (const auto& intervals : g.getTileMapping(poplin::createMatMulInputLHS(g, FLOAT, shape, shape, "a", options))) {
    std::size_t elements = 0;
    for (const Interval& interval : intervals) elements += interval.size();
    most = std::max(most, elements);
  }
  EXPECT_LE(most, 32768u);
}

TEST(MatMul, PreArrangedOperandsGiveTheSameProduct) {
  const Dims d{1, 20, 64, 48};
  for (const Machine machine : kMachines) {
    const Operand a = left(d, FLOAT), b = right(d, FLOAT);
    const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const OptionFlags options = {{"inputRHSIsPreArranged", "true"}, {"fullyConnectedPass", "INFERENCE_FWD"}};
      const Tensor arranged = poplin::preArrangeMatMulInputRHS(g, in[0][0].shape(), in[1][0], prog, "arranged", options);
      const Tensor groups = poplin::preArrangeMatMulGroupedInputRHS(g, in[0].shape(), in[1], prog, FLOAT, "arranged", options);
      return std::vector<Tensor>{poplin::matMul(g, in[0][0], arranged, prog, "product", options),
                                 poplin::matMulGrouped(g, in[0], groups, prog, FLOAT, "product", options)};
    });
    for (const Values& v : out) expect_close(v, reference(d, a, b), tolerance(d, FLOAT), name_of(machine));
  }
}

TEST(MatMul, GivesTheSameBitsWithOneThreadAndFour) {
  const Dims d{1, 100, 300, 120};
  for (const Machine machine : {Machine::cpu, Machine::full}) {
    std::vector<double> first;
    for (const char* threads : {"1", "4"}) {
      RunOptions options;
      options.engine = {{"pando.threads", threads}};
      const auto out = run(
          machine, {left(d, FLOAT), right(d, FLOAT)},
          [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            return std::vector<Tensor>{poplin::matMul(g, in[0][0], in[1][0], prog)};
          },
          options);
      if (first.empty()) first = out[0].values;
      EXPECT_EQ(out[0].values, first) << name_of(machine);
    }
  }
}

TEST(MatMul, UsesTheTiles) {
  for (const Type& type : {FLOAT, HALF})
    for (const Dims& d : {Dims{1, 512, 512, 512}, Dims{46, 64, 32, 64}, Dims{1, 16, 1024, 1024}}) {
      const double share =
          share_of_tiles_used(Machine::full, {left(d, type), right(d, type)}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            return std::vector<Tensor>{poplin::matMulGrouped(g, in[0], in[1], prog, type)};
          });
      EXPECT_GE(share, 0.9) << text_of(d) << " " << type.toString();
    }
}

TEST(MatMul, ReportsItsPlan) {
  Graph g(device_of(Machine::full).getTarget());
  std::ostringstream text, again;
  poplin::PlanningCache cache;
  poplin::matMulReportPlan(text, g, HALF, HALF, {512, 1024}, {1024, 256}, {}, &cache);
  poplin::matMulReportPlan(again, g, HALF, HALF, {512, 1024}, {1024, 256}, {}, &cache);
  EXPECT_EQ(text.str(), again.str());
  EXPECT_THAT(text.str(), testing::StartsWith("matrix product: 1 x (512 x 1024) * (1024 x 256), half -> half, partial sums float\n"));
  std::ostringstream groups;
  poplin::matMulGroupedReportPlan(groups, g, FLOAT, FLOAT, {4, 5, 6}, {4, 6, 7}, {{"pando.planObjective", "hostTime"}});
  EXPECT_THAT(groups.str(), testing::AllOf(testing::StartsWith("matrix product: 4 x (5 x 6) * (6 x 7)"), testing::HasSubstr(" ns;")));
}

TEST(MatMul, PreplanningFillsTheCache) {
  const Target target = device_of(Machine::ipu1).getTarget();
  const OptionFlags options = {{"partialsType", "half"}};
  poplin::matmul::PlanningCache cache;
  poplin::MatMulParams params{HALF, HALF, {16, 32}, {32, 8}}, groups{HALF, FLOAT, {2, 16, 32}, {2, 32, 8}};
  EXPECT_TRUE(params < groups || groups < params);
  poplin::preplanMatMuls({poplin::MatMulPlanParams(&target, params, &options), poplin::MatMulPlanParams(&target, groups, &options)}, cache);
  poplin::MatMulToConvOptions convolutions;
  EXPECT_TRUE(poplin::matMulGetConvPlanParams({poplin::MatMulPlanParams(&target, params, &options)}, convolutions).empty());
  EXPECT_EQ(&cache.getImpl(), static_cast<poplin::PlanningCache*>(&cache));
}

// Runs `build` on a graph with A {4, 5} and B {5, 6} of that type.
void build_only(const Type& type, const std::function<void(Graph&, Tensor, Tensor, Sequence&)>& build) {
  Graph g(device_of(Machine::ipu1).getTarget());
  poplin::addCodelets(g);
  const Tensor a = g.addVariable(type, {4, 5}, VariableMappingMethod::LINEAR, "a"),
               b = g.addVariable(type, {5, 6}, VariableMappingMethod::LINEAR, "b");
  Sequence prog;
  build(g, a, b, prog);
}

template <class Error = poputil::poplibs_error>
void expect_error(const std::string& text, const Type& type, const std::function<void(Graph&, Tensor, Tensor, Sequence&)>& build) {
  try {
    build_only(type, build);
    ADD_FAILURE() << "no error: " << text;
  } catch (const Error& e) { EXPECT_THAT(e.what(), testing::HasSubstr(text)); }
}

TEST(MatMul, SaysWhatIsWrong) {
  expect_error("matMul: operands are of type int, expected float or half", INT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMul(g, a, b, p); });
  expect_error("the result is of type int", FLOAT, [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMul(g, a, b, p, INT); });
  expect_error("expected as many columns of A as rows of B", FLOAT,
               [](Graph& g, Tensor a, Tensor, Sequence& p) { poplin::matMul(g, a, a, p); });
  expect_error("A has shape {20}, expected a matrix", FLOAT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMul(g, a.flatten(), b, p); });
  expect_error("expected matrices, of one rank", FLOAT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMulGrouped(g, a, b, p, FLOAT); });
  expect_error("expected as many groups in both", FLOAT, [](Graph& g, Tensor a, Tensor b, Sequence& p) {
    poplin::matMulGrouped(g, a.expand({0}), b.expand({0}).broadcast(2, 0), p, FLOAT);
  });
  expect_error("expected one type", FLOAT, [](Graph& g, Tensor a, Tensor b, Sequence& p) {
    const Tensor h = g.clone(HALF, b);
    poplin::matMul(g, a, h, p);
  });
  expect_error("matMulWithOutput: the result has shape {1,4,5}, expected {1,4,6}", FLOAT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMulWithOutput(g, a, b, a, p); });
  expect_error("matMulAcc: the result is not parallel writeable", FLOAT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMulAcc(g, b.slice(0, 1).broadcast(4, 0), 1.0f, a, b, p); });
  expect_error("the factor has shape {2}, expected one element", FLOAT,
               [](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMulAcc(g, g.clone(b.slice(0, 4)), a[0].slice(0, 2), a, b, p); });
  expect_error("the factor is of type int, expected float or half", FLOAT, [](Graph& g, Tensor a, Tensor b, Sequence& p) {
    poplin::matMulAcc(g, g.clone(b.slice(0, 4)), g.addVariable(INT, {}, "k"), a, b, p);
  });
  expect_error("createMatMulInputRHS: B has rank 1, expected a matrix", FLOAT,
               [](Graph& g, Tensor, Tensor, Sequence&) { poplin::createMatMulInputRHS(g, FLOAT, {3, 4}, {4}, "b"); });
  expect_error("transposeGroupedMatrix: A has shape {4,5}, expected rank 3", FLOAT,
               [](Graph&, Tensor a, Tensor, Sequence&) { poplin::transposeGroupedMatrix(a); });
}

TEST(MatMul, RejectsUnknownOptions) {
  const auto with = [](const char* key, const char* value) {
    return [=](Graph& g, Tensor a, Tensor b, Sequence& p) { poplin::matMul(g, a, b, p, "product", {{key, value}}); };
  };
  expect_error<invalid_option>("Unrecognised option 'partialsTyp'", FLOAT, with("partialsTyp", "half"));
  expect_error<invalid_option>("Invalid value 'int' for option 'partialsType': expected one of float, half", FLOAT,
                               with("partialsType", "int"));
  expect_error<invalid_option>("availableMemoryProportion", FLOAT, with("availableMemoryProportion", "1.5"));
  expect_error<invalid_option>("availableMemoryProportion", FLOAT, with("availableMemoryProportion", "much"));
  expect_error<invalid_option>("fullyConnectedPass", FLOAT, with("fullyConnectedPass", "FWD"));
  expect_error<invalid_option>("planConstraints", FLOAT, with("planConstraints", "{"));
  expect_error<invalid_option>("pando.planObjective", FLOAT, with("pando.planObjective", "time"));
  EXPECT_THROW(poplin::matmulValidateOptions({{"x", "y"}}), invalid_option);
  EXPECT_NO_THROW(
      poplin::matmulValidateOptions({{"partialsType", "half"}, {"fullyConnectedPass", "TRAINING_WU"}, {"planConstraints", "{}"}}));
}

TEST(MatMul, TransposesGroups) {
  const Operand x = operand("x", FLOAT, {2, 3, 4}, uniform(-1, 1, 1));
  const auto out = run(Machine::cpu, {x}, [](Graph&, std::vector<Tensor>& in, Sequence&) {
    return std::vector<Tensor>{poplin::transposeGroupedMatrix(in[0])};
  });
  for (std::size_t g = 0; g < 2; ++g)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(out[0][(g * 4 + i) * 3 + j], x[(g * 3 + j) * 4 + i]);
}

}  // namespace
