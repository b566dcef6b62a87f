#include "poplibs/poplin/matmul/blocked.h"

#include <gtest/gtest.h>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>
#include <popops/Cast.hpp>
#include <popops/codelets.hpp>

#include <sstream>
#include <vector>

namespace poplin::internal::matmul {
namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::HALF;
using poplar::Tensor;
using poplar::program::Copy;
using poplar::program::Sequence;

const poplar::OptionFlags kBlocks{{"pando.layout", "blocks"}};

poplar::Device device_of(unsigned tiles) {
  poplar::IPUModel model;
  model.tilesPerIPU = tiles;
  return model.createDevice();
}

TEST(Blocked, BlocksFollowTheSize) {
  const Blocks wide = blocks_of(1, 1024, 2304, 1472);
  EXPECT_EQ(wide.r, 64u);
  EXPECT_EQ(wide.c, 64u);
  EXPECT_EQ(wide.count(), 16u * 36);
  EXPECT_EQ(blocks_of(1, 1024, 768, 1472).r, 32u);  // else fewer than a quarter of the tiles have one
  EXPECT_EQ(blocks_of(96, 128, 128, 1472).c, 128u);
  EXPECT_EQ(blocks_of(1, 10, 7, 1472).count(), 1u);
  EXPECT_EQ(blocks_of(2, 100, 7, 4).r, 50u);
  EXPECT_FALSE(blocks_of(2, 101, 7, 4).valid());  // a group's last block would be smaller
}

Problem problem(std::size_t groups, std::size_t m, std::size_t k, std::size_t n) {
  Problem p;
  p.groups = groups, p.m = m, p.k = k, p.n = n;
  p.input = p.output = FLOAT;
  p.options.blocked = true;
  return p;
}

TEST(Blocked, LongSumsOfFewElementsKeepTheGrid) {
  const poplar::Device device = device_of(8);
  EXPECT_TRUE(is_blocked(problem(1, 256, 784, 1024), device.getTarget()));
  EXPECT_TRUE(is_blocked(problem(1, 4, 100, 4), device.getTarget()));
  EXPECT_FALSE(is_blocked(problem(1, 16, 1 << 20, 16), device.getTarget()));
  // All along the depth would be operands of one vertex.
  EXPECT_FALSE(is_blocked(problem(1, 1, 100000, 1), device.getTarget()));
  EXPECT_FALSE(is_blocked(problem(2, 101, 64, 64), device.getTarget()));
  Problem halfs = problem(1, 256, 784, 1024);
  halfs.input = HALF;
  EXPECT_TRUE(is_blocked(halfs, device.getTarget()));
  Problem narrowed = problem(1, 256, 784, 1024);
  narrowed.output = HALF;
  EXPECT_FALSE(is_blocked(narrowed, device.getTarget()));
}

TEST(Blocked, OperandsOfProductsWithoutElements) {
  poplar::Graph graph(device_of(4).getTarget());
  EXPECT_EQ(createMatMulInputRHS(graph, FLOAT, {0, 3}, {3, 4}, {}, kBlocks).numElements(), 12u);
  EXPECT_EQ(createMatMulInputLHS(graph, FLOAT, {3, 4}, {4, 0}, {}, kBlocks).numElements(), 12u);
  EXPECT_EQ(createMatMulInputLHS(graph, FLOAT, {0, 3}, {3, 4}, {}, kBlocks).numElements(), 0u);
  EXPECT_EQ(createMatMulOutput(graph, FLOAT, {2, 0}, {0, 4}, {}, kBlocks).numElements(), 8u);
}

enum class Kind { created, transposed, linear };

struct Case {
  std::size_t groups, m, k, n;
  Kind a, b;
  double share = 0.6;
  poplar::Type input = FLOAT, output = FLOAT;
};

std::vector<float> numbers(std::size_t n, unsigned seed) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 7 + seed * 13 + i / 11) % 9) - 4;
  return out;
}

Tensor operand(Graph& graph, const Case& c, bool left, const poplar::OptionFlags& options) {
  const Kind kind = left ? c.a : c.b;
  const std::vector<std::size_t> shape = left ? std::vector{c.groups, c.m, c.k} : std::vector{c.groups, c.k, c.n};
  if (kind == Kind::linear) {
    const Tensor t = graph.addVariable(c.input, shape);
    for (std::size_t g = 0; g < c.groups; ++g) graph.setTileMapping(t[g], static_cast<unsigned>(g));
    return t;
  }
  if (kind == Kind::created)
    return left ? createMatMulGroupedInputLHS(graph, c.input, c.output, shape, {c.groups, c.k, c.n}, {}, options)
                : createMatMulGroupedInputRHS(graph, c.input, c.output, {c.groups, c.m, c.k}, shape, {}, options);
  return transposeGroupedMatrix(
      createMatMulGroupedInputLHS(graph, c.input, c.output, {shape[0], shape[2], shape[1]}, {shape[0], shape[1], 64}, {}, options));
}

// The tensor, or one of floats that is cast to it.
Tensor as_floats(Graph& graph, const Tensor& t, Sequence& prog) {
  if (t.elementType() == FLOAT) return t;
  const Tensor floats = graph.addVariable(FLOAT, t.shape(), poplar::VariableMappingMethod::LINEAR);
  prog.add(popops::cast(graph, floats, t));
  return floats;
}

// Small whole numbers: sums are exact, so equal.
void check(const Case& c) {
  const poplar::Device device = device_of(8);
  Graph graph(device.getTarget());
  addCodelets(graph);
  popops::addCodelets(graph);
  poplar::OptionFlags options = kBlocks;
  options.set("availableMemoryProportion", std::to_string(c.share));
  Sequence prog;
  const Tensor a = operand(graph, c, true, options), b = operand(graph, c, false, options);
  graph.createHostWrite("a", as_floats(graph, a, prog));
  graph.createHostWrite("b", as_floats(graph, b, prog));
  const Tensor out = matMulGrouped(graph, a, b, prog, c.output, {"product"}, options);
  graph.createHostRead("out", out.elementType() == FLOAT ? out : popops::cast(graph, out, FLOAT, prog));
  poplar::Engine engine(graph, prog);
  engine.load(device);
  const std::vector<float> x = numbers(c.groups * c.m * c.k, 1), w = numbers(c.groups * c.k * c.n, 2);
  engine.writeTensor("a", x.data(), x.data() + x.size());
  engine.writeTensor("b", w.data(), w.data() + w.size());
  engine.run(0);
  std::vector<float> got(c.groups * c.m * c.n), expected(got.size());
  engine.readTensor("out", got.data(), got.data() + got.size());
  for (std::size_t g = 0; g < c.groups; ++g)
    for (std::size_t i = 0; i < c.m; ++i)
      for (std::size_t l = 0; l < c.k; ++l)
        for (std::size_t j = 0; j < c.n; ++j) expected[(g * c.m + i) * c.n + j] += x[(g * c.m + i) * c.k + l] * w[(g * c.k + l) * c.n + j];
  EXPECT_EQ(got, expected) << c.groups << ' ' << c.m << ' ' << c.k << ' ' << c.n;
}

TEST(Blocked, ProductsOfOperandsAsTheyCome) {
  check({1, 40, 70, 90, Kind::created, Kind::created});
  check({1, 33, 200, 150, Kind::created, Kind::transposed});
  check({1, 150, 33, 200, Kind::transposed, Kind::created});
  check({1, 100, 131, 140, Kind::transposed, Kind::transposed});
  check({6, 32, 64, 128, Kind::created, Kind::transposed});
  check({6, 128, 32, 16, Kind::transposed, Kind::created});
  check({3, 50, 60, 20, Kind::linear, Kind::linear});
  check({1, 1, 1, 1, Kind::created, Kind::linear});
  check({1, 64, 192, 130, Kind::linear, Kind::created, 0.05});  // k in several steps
  check({1, 64, 192, 130, Kind::transposed, Kind::transposed, 0.05});
}

TEST(Blocked, ProductsOfHalfsAreSummedInFloat) {
  check({1, 40, 70, 90, Kind::created, Kind::created, 0.6, HALF, HALF});
  check({1, 33, 200, 150, Kind::created, Kind::transposed, 0.6, HALF, FLOAT});
  check({6, 128, 32, 16, Kind::transposed, Kind::created, 0.6, HALF, HALF});
  check({3, 50, 60, 20, Kind::linear, Kind::linear, 0.6, HALF, HALF});
  check({1, 64, 192, 130, Kind::transposed, Kind::transposed, 0.03, HALF, FLOAT});  // k in several steps
}

TEST(Blocked, TheReportNamesTheBlocks) {
  const poplar::Device device = device_of(1472);
  const Graph graph(device.getTarget());
  std::ostringstream text;
  matMulReportPlan(text, graph, FLOAT, FLOAT, {1024, 3072}, {3072, 768}, kBlocks);
  EXPECT_NE(text.str().find("384 of 32 x 64 on 384 of 1472 tiles, k in steps of 448"), std::string::npos) << text.str();
}

}  // namespace
}  // namespace poplin::internal::matmul
