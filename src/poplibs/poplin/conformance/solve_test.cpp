// Triangular systems and Cholesky factors against substitution in double.
#include <gtest/gtest.h>

#include <poplin/Cholesky.hpp>
#include <poplin/TriangularSolve.hpp>
#include <poplin/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <set>

#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using program::Sequence;
using Numbers = std::vector<double>;
using Shape = std::vector<std::size_t>;
using Tensors = std::vector<Tensor>;

// Elements of a triangle that keeps solutions small; the other triangle's elements must not matter.
Operand triangle(const Type& type, std::size_t groups, std::size_t n, Mapping mapping) {
  const auto any = uniform(-0.3, 0.3, 3);
  return operand("a", type, {groups, n, n}, [&](std::size_t i) { return i % n == i / n % n ? 1.5 + any(i) : any(i); }, mapping);
}

struct System {
  bool left, lower, unit;
};

bool counts(const System& s, std::size_t row, std::size_t column) { return s.lower ? column <= row : column >= row; }

double element(const System& s, const Numbers& a, std::size_t n, std::size_t g, std::size_t row, std::size_t column) {
  if (row == column && s.unit) return 1;
  return counts(s, row, column) ? a[(g * n + row) * n + column] : 0;
}

// A X or X A, in double.
Numbers product(const System& s, const Numbers& a, const Numbers& x, std::size_t groups, std::size_t n, std::size_t m) {
  Numbers out(groups * n * m, 0);
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < m; ++j) {
          if (s.left)
            out[(g * n + i) * m + j] += element(s, a, n, g, i, k) * x[(g * n + k) * m + j];
          else
            out[(g * m + j) * n + i] += x[(g * m + j) * n + k] * element(s, a, n, g, k, i);
        }
  return out;
}

TEST(TriangularSolve, SolutionsGiveTheRightHandSide) {
  constexpr std::size_t kGroups = 2, kSize = 13;
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const std::size_t m : {1, 7})
        for (const std::size_t block : {4, 13, 64})
          for (unsigned bits = 0; bits < 8; ++bits) {
            const System s{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
            const Mapping mapping = machine == Machine::ipu1 ? Mapping::scattered : Mapping::linear;
            const Operand a = triangle(type, kGroups, kSize, mapping);
            const Operand b = operand("b", type, s.left ? Shape{kGroups, kSize, m} : Shape{kGroups, m, kSize}, uniform(-1, 1, 5), mapping);
            const auto out = run(machine, {a, b}, [&](Graph& g, Tensors& in, Sequence& prog) {
              return Tensors{poplin::triangularSolve(g, in[0], in[1], s.left, s.lower, s.unit, block, prog)};
            });
            EXPECT_EQ(out[0].shape, b.shape);
            expect_close({FLOAT, b.shape, product(s, a.values, out[0].values, kGroups, kSize, m)}, b.values,
                         type == HALF ? Tolerance{0, 0.02} : Tolerance{0, 1e-5},
                         name_of(machine) + (s.left ? " left" : " right") + (s.lower ? " lower" : " upper") + (s.unit ? " unit" : ""));
          }
}

TEST(TriangularSolve, MasksLeaveATriangle) {
  constexpr std::size_t kGroups = 2, kSize = 5;
  const Operand a = triangle(FLOAT, kGroups, kSize, Mapping::linear);
  for (unsigned bits = 0; bits < 4; ++bits) {
    const System s{true, (bits & 1) != 0, (bits & 2) != 0};
    const auto out = run(Machine::ipu1, {a}, [&](Graph& g, Tensors& in, Sequence& prog) {
      return Tensors{poplin::triangularMask(g, in[0], s.lower, s.unit, prog)};
    });
    Numbers expected;
    for (std::size_t i = 0; i < a.size(); ++i)
      expected.push_back(element(s, a.values, kSize, i / (kSize * kSize), i / kSize % kSize, i % kSize));
    expect_close(out[0], expected, Tolerance{});
  }
}

// A = M M^T + 1, whose factor is computed in double.
Numbers positive(std::size_t groups, std::size_t n) {
  const auto any = uniform(-1, 1, 9);
  Numbers a(groups * n * n);
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = i == j ? 1 : 0;
        for (std::size_t k = 0; k < n; ++k) sum += any((g * n + i) * n + k) * any((g * n + j) * n + k);
        a[(g * n + i) * n + j] = sum;
      }
  return a;
}

Numbers factor(Numbers a, std::size_t groups, std::size_t n, bool lower) {
  Numbers out(a.size(), 0);
  for (std::size_t g = 0; g < groups; ++g) {
    const auto at = [&](std::size_t i, std::size_t j) { return (g * n + i) * n + j; };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = a[at(i, j)];
        for (std::size_t k = 0; k < j; ++k) sum -= a[at(i, k)] * a[at(j, k)];
        a[at(i, j)] = i == j ? std::sqrt(sum) : sum / a[at(j, j)];
        out[lower ? at(i, j) : at(j, i)] = a[at(i, j)];
      }
  }
  return out;
}

TEST(Cholesky, Factors) {
  constexpr std::size_t kGroups = 2, kSize = 13;
  const Numbers a = positive(kGroups, kSize);
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const std::size_t block : {4, 64})
        for (const bool lower : {true, false}) {
          // Only the factor's triangle is read.
          const auto read = [&](std::size_t i) {
            const std::size_t row = i / kSize % kSize, column = i % kSize;
            return (lower ? column <= row : column >= row) ? a[i] : 1000.0;
          };
          const Operand in = operand("a", type, {kGroups, kSize, kSize}, read, machine == Machine::ipu1 ? Mapping::views : Mapping::linear);
          const auto out = run(machine, {in},
                               [&](Graph& g, Tensors& t, Sequence& prog) {
                                 const OptionFlags options = {{"blockSize", std::to_string(block)}};
                                 const Tensor factor = poplin::cholesky(g, t[0], lower, prog, {}, options);
                                 poplin::choleskyInPlace(g, t[0], lower, prog, {}, options);
                                 return Tensors{factor};
                               },
                               {.in_place = true});
          ASSERT_EQ(out.size(), 2u);
          for (const Values& o : out)
            expect_close(o, factor(a, kGroups, kSize, lower), type == HALF ? Tolerance{0.02, 0.02} : Tolerance{2e-5, 2e-5},
                         name_of(machine));
        }
}

// Planned ahead, nothing is planned again.
TEST(TriangularSolve, ProductsArePlannedAhead) {
  Graph g(device_of(Machine::ipu1));
  poplin::addCodelets(g);
  popops::addCodelets(g);
  Sequence prog;
  const Shape a = {3, 20, 20}, b = {3, 20, 6};
  const OptionFlags options = {{"blockSize", "8"}};
  for (const bool factor : {false, true}) {
    const auto products = factor ? poplin::getCholeskyMatMulPrePlanParameters(FLOAT, a, true, options)
                                 : poplin::getTriangularSolveMatMulPrePlanParameters(FLOAT, FLOAT, a, b, true, true, options);
    EXPECT_EQ(products.size(), 2u);
    poplin::matmul::PlanningCache cache;
    std::set<poplin::MatMulPlanParams> wanted;
    for (const auto& p : products) wanted.emplace(&g.getTarget(), p.first, &p.second);
    poplin::preplanMatMuls(wanted, cache);
    EXPECT_EQ(cache.size(), products.size());
    if (factor)
      poplin::choleskyInPlace(g, poplin::createCholeskyInput(g, FLOAT, a, true, "a", options), true, prog, {}, options, &cache);
    else
      poplin::triangularSolve(g, poplin::createTriangularSolveInputLHS(g, FLOAT, FLOAT, a, b, true, "a", options),
                              poplin::createTriangularSolveInputRHS(g, FLOAT, FLOAT, a, b, true, "b", options), true, true, false, prog, {},
                              options, &cache);
    EXPECT_EQ(cache.size(), products.size());
  }
}

TEST(TriangularSolve, Rejections) {
  Graph g(device_of(Machine::ipu1));
  poplin::addCodelets(g);
  popops::addCodelets(g);
  Sequence prog;
  const Tensor a = linear(g, FLOAT, {4, 4}), b = linear(g, FLOAT, {4, 3}), whole = linear(g, INT, {4, 4}), half = linear(g, HALF, {4, 3});
  const auto solve = [&](const Tensor& l, const Tensor& r, bool left = true, const OptionFlags& options = {}) {
    poplin::triangularSolve(g, l, r, left, true, false, prog, {}, options);
  };
  solve(a, b);
  EXPECT_THROW(solve(b, a), poputil::poplibs_error);
  EXPECT_THROW(solve(a, b, false), poputil::poplibs_error);
  EXPECT_THROW(solve(a, b.expand({0})), poputil::poplibs_error);
  EXPECT_THROW(solve(whole, whole), poputil::poplibs_error);
  EXPECT_THROW(solve(a, half), poputil::poplibs_error);
  EXPECT_THROW(solve(a, b, true, {{"blockSize", "0"}}), invalid_option);
  EXPECT_THROW(solve(a, b, true, {{"nothing", "1"}}), invalid_option);
  const Shape square = {4, 4}, right = {4, 3};
  EXPECT_EQ(poplin::createTriangularSolveInputLHS(g, FLOAT, FLOAT, square, right, true, 2, "a").shape(), square);
  EXPECT_EQ(poplin::createTriangularSolveInputRHS(g, FLOAT, FLOAT, square, right, true, 2, "b").shape(), right);
  EXPECT_THROW(poplin::createTriangularSolveInputLHS(g, FLOAT, FLOAT, square, right, true, 0, "a"), invalid_option);
  EXPECT_THROW(poplin::createTriangularSolveInputRHS(g, FLOAT, FLOAT, square, right, false, 2, "b"), poputil::poplibs_error);
  EXPECT_THROW(poplin::triangularMask(g, b, true, true, prog), poputil::poplibs_error);
  EXPECT_THROW(poplin::cholesky(g, b, true, prog), poputil::poplibs_error);
  EXPECT_THROW(poplin::choleskyInPlace(g, a.slice(0, 1).broadcast(4, 0), true, prog), poputil::poplibs_error);
}

TEST(TriangularSolve, IsSpreadOverTheMachine) {
  const double share = share_of_tiles_used(Machine::full, {}, [](Graph& g, Tensors&, Sequence& prog) {
    return Tensors{poplin::triangularSolve(g, linear(g, FLOAT, {256, 256}), linear(g, FLOAT, {256, 3000}), true, true, false, prog)};
  });
  EXPECT_GT(share, 0.9);
}

}  // namespace
