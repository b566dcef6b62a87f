// LU and QR factors: their products in double give the matrix, and they have the form that they should have.
#include <gtest/gtest.h>

#include <poplin/codelets.hpp>
#include <poplin/experimental/LuFactorization.hpp>
#include <poplin/experimental/QRFactorization.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <utility>

#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poputil::poplibs_error;
using program::Sequence;
using Numbers = std::vector<double>;
using Shape = std::vector<std::size_t>;
using Tensors = std::vector<Tensor>;
namespace exp = poplin::experimental;

// {m, k} {k, n}, of x transposed if asked.
Numbers product(const Numbers& x, const Numbers& y, std::size_t m, std::size_t k, std::size_t n, bool transposed = false) {
  Numbers out(m * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < k; ++l)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += (transposed ? x[l * m + i] : x[i * k + l]) * y[l * n + j];
  return out;
}

Numbers identity(std::size_t n) {
  Numbers out(n * n);
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = 1;
  return out;
}

// Of {m, n}, where an upper triangular matrix has zeros.
void expect_upper(const Values& v, std::size_t n) {
  for (std::size_t i = 0; i < v.size(); ++i)
    if (i % n < i / n) ASSERT_EQ(v[i], 0) << "row " << i / n << ", column " << i % n;
}

const std::vector<std::pair<std::size_t, std::size_t>> kShapes = {{1, 1}, {7, 7}, {5, 9}, {9, 5}, {64, 64}, {70, 70}, {131, 80}, {80, 131}};

TEST(LuFactorization, ProductIsTheMatrix) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const auto& [m, n] : kShapes) {
        const auto any = uniform(-0.3, 0.3, 3);
        const std::size_t columns = n;
        const Operand a = operand(
            "a", type, {m, n}, [&](std::size_t i) { return any(i) + (i / columns == i % columns ? 5 : 0); },
            machine == Machine::ipu1 ? Mapping::views : Mapping::linear);
        const auto out = run(machine, {a}, [&](Graph& g, Tensors& in, Sequence& prog) {
          const auto [l, u] = exp::LUFactorization(g, in[0], prog);
          return Tensors{l, u, in[0]};
        });
        const std::string name = name_of(machine) + " " + std::to_string(m) + " x " + std::to_string(n);
        EXPECT_EQ(out[0].type, FLOAT);
        EXPECT_EQ(out[0].shape, (Shape{m, m}));
        EXPECT_EQ(out[1].shape, (Shape{m, n}));
        expect_upper(out[1], n);
        for (std::size_t i = 0; i < m * m; ++i) {
          if (i % m == i / m) ASSERT_EQ(out[0][i], 1) << name;
          if (i % m > i / m) ASSERT_EQ(out[0][i], 0) << name;
        }
        expect_close({FLOAT, a.shape, product(out[0].values, out[1].values, m, m, n)}, a.values, Tolerance{0, 2e-5}, name);
        EXPECT_EQ(out[2].values, a.values) << "the matrix stays";
      }
}

TEST(QRFactorization, ProductIsTheMatrix) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const auto& [m, n] : kShapes)
        for (const char* columns : {"1", "3", "32"}) {
          if (m < n || (std::string(columns) == "1" && m > 64)) continue;
          // A column of zeros and one that needs no reflection are among them.
          const auto any = uniform(-1, 1, 5);
          const std::size_t width = n;
          const Operand a = operand("a", type, {m, n}, [&](std::size_t i) {
            if (width > 2 && i % width == 2) return 0.0;
            return width > 3 && i % width == 0 && i > 0 ? 0.0 : any(i);
          });
          const Numbers one = identity(m);
          const Operand q = operand("q", type, {m, m}, [&](std::size_t i) { return one[i]; });
          const auto out = run(machine, {a, q}, [&](Graph& g, Tensors& in, Sequence& prog) {
            exp::QRFactorization(g, in[0], in[1], prog, {}, {{"rowsPerIteration", columns}});
            return in;
          });
          const std::string name =
              name_of(machine) + " " + type.toString() + " " + std::to_string(m) + " x " + std::to_string(n) + " by " + columns;
          const Tolerance tolerance = type == HALF ? Tolerance{0, 0.05} : Tolerance{0, 2e-5};
          expect_upper(out[0], n);
          expect_close({FLOAT, a.shape, product(out[1].values, out[0].values, m, m, n)}, a.values, tolerance, name);
          expect_close({FLOAT, q.shape, product(out[1].values, out[1].values, m, m, m, true)}, one, tolerance, name + " is orthogonal");
        }
}

// Q times the factor: what was in Q counts. Very great and very small columns neither overflow nor vanish.
TEST(QRFactorization, MultipliesWhatIsThereAndScales) {
  const std::size_t n = 6;
  const auto any = uniform(-1, 1, 6);
  const Operand a = operand("a", FLOAT, {n, n}, [&](std::size_t i) { return any(i) * (i % n == 0 ? 1e30 : 1e-30); });
  const Operand q = operand("q", FLOAT, {n, n}, uniform(-1, 1, 7));
  const Numbers one = identity(n);
  const Operand start = operand("one", FLOAT, {n, n}, [&](std::size_t i) { return one[i]; });
  const auto out = run(Machine::ipu1, {a, q, start}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const auto [a2, factor] = exp::createQRFactorizationMatrices(g, FLOAT, n, n, "again");
    prog.add(program::Copy(in[0], a2));
    prog.add(program::Copy(in[2], factor));
    Tensor matrix = a2, orthogonal = factor;
    exp::QRFactorization(g, matrix, orthogonal, prog);
    exp::QRFactorization(g, in[0], in[1], prog);
    return Tensors{in[0], in[1], orthogonal};
  });
  expect_close(out[1], product(q.values, out[2].values, n, n, n), Tolerance{0, 1e-5});
  Numbers back = product(out[2].values, out[0].values, n, n, n);
  for (std::size_t i = 0; i < back.size(); ++i) back[i] /= i % n == 0 ? 1e30 : 1e-30;
  Numbers scaled;
  for (std::size_t i = 0; i < back.size(); ++i) scaled.push_back(any(i));
  expect_close({FLOAT, a.shape, back}, scaled, Tolerance{0, 1e-5});
}

TEST(Factorization, Rejections) {
  Graph g(device_of(Machine::ipu1));
  poplin::addCodelets(g);
  popops::addCodelets(g);
  Sequence prog;
  Tensor a = linear(g, FLOAT, {4, 3}), q = linear(g, FLOAT, {4, 4}), whole = linear(g, INT, {4, 4}), half = linear(g, HALF, {4, 4}),
         wide = linear(g, FLOAT, {3, 4}), row = linear(g, FLOAT, {4}), once = row.expand({0}).broadcast(4, 0), none;
  EXPECT_THROW(exp::LUFactorization(g, whole, prog), poplibs_error);
  EXPECT_THROW(exp::LUFactorization(g, row, prog), poplibs_error);
  EXPECT_THROW(exp::LUFactorization(g, none, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, wide, q, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, a, half, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, a, wide, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, once, q, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, none, q, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, q, q, prog), poplibs_error);
  EXPECT_THROW(exp::QRFactorization(g, a, q, prog, {}, {{"rowsPerIteration", "0"}}), invalid_option);
  EXPECT_THROW(exp::QRFactorization(g, a, q, prog, {}, {{"columns", "1"}}), invalid_option);
  EXPECT_THROW(exp::createQRFactorizationMatrices(g, INT, 4, 4, ""), poplibs_error);
  EXPECT_THROW(exp::createQRFactorizationMatrices(g, FLOAT, 3, 4, ""), poplibs_error);
}

}  // namespace
