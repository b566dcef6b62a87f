// Products and softmax of masks of blocks, against dense loops.
#include <popsparse/experimental/BlockSparse.hpp>
#include <popsparse/experimental/BlockSparseMatMul.hpp>
#include <poputil/exceptions.hpp>

#include "sparse.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace popsparse::experimental;

struct Row {
  std::array<int, 3> dim, block;
  unsigned groups;
  double density;
};
const std::vector<Row> kRows = {{{16, 32, 24}, {8, 8, 8}, 1, 0.4}, {{8, 16, 48}, {8, 8, 16}, 3, 0.3}, {{32, 24, 32}, {16, 8, 16}, 2, 1}};

// One matrix of all groups, under each other.
SparseCase groups_of(std::size_t rows, std::size_t columns, BlockShape block, const Row& row) {
  return draw_sparse(rows * row.groups, columns, block, row.density, 23);
}
std::vector<double> part(const std::vector<double>& all, std::size_t g, std::size_t size) {
  return {all.begin() + static_cast<std::ptrdiff_t>(g * size), all.begin() + static_cast<std::ptrdiff_t>((g + 1) * size)};
}
template <class F>
std::vector<double> each_group(unsigned groups, F f) {
  std::vector<double> out;
  for (std::size_t g = 0; g < groups; ++g)
    for (const double v : f(g)) out.push_back(v);
  return out;
}
bool zeroed(SubBlockMask kind, std::size_t row, std::size_t column) {
  return (kind == SubBlockMask::ZeroUpperTriangle && column > row) || (kind == SubBlockMask::ZeroLowerTriangle && column < row);
}

TEST(SparseMasked, dense_times_sparse) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Row& row : kRows)
        for (const bool turned : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} turned {}", name_of(machine), type.toString(), row.dim[2], turned));
          const std::size_t m = row.dim[0], k = row.dim[1], n = row.dim[2], bk = row.block[1], bn = row.block[2];
          const SparseCase s = turned ? groups_of(n, k, {bn, bk}, row) : groups_of(k, n, {bk, bn}, row);
          const BSMatMulParams params(row.dim, row.block, s.mask, turned, type, type, FLOAT, row.groups);
          SparseSession session(machine);
          const Tensor a = createBSMatMulInputLHS(session.graph, params, "a"), b = createBSMatMulInputRHS(session.graph, params, "b");
          const std::vector<double> values = draw(row.groups * m * k, 3);
          session.write("a", a, floats(values));
          session.write("b", b, s.csr().nzValues);
          session.read("c", bsMatMul(session.graph, params, session.prog, a, b));
          session.run();
          EXPECT_EQ(session.result("c"), each_group(row.groups, [&](std::size_t g) {
                      const std::vector<double> right = part(s.dense, g, k * n);
                      return dense_product(part(values, g, m * k), turned ? transposed(right, n, k) : right, m, k, n);
                    }));
        }
}

TEST(SparseMasked, dense_times_dense) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Row& row : kRows)
        for (const SubBlockMask kind : {SubBlockMask::None, SubBlockMask::ZeroUpperTriangle, SubBlockMask::ZeroLowerTriangle}) {
          SCOPED_TRACE(fmt::format("{} {} {}", name_of(machine), type.toString(), row.dim[2]));
          const std::size_t m = row.dim[0], k = row.dim[1], n = row.dim[2];
          SparseCase s = groups_of(m, n, {static_cast<std::size_t>(row.block[0]), static_cast<std::size_t>(row.block[2])}, row);
          const BSMatMulParams params(row.dim, row.block, s.mask, type, type, FLOAT, kind, row.groups);
          SparseSession session(machine);
          const Tensor a = createBSMatMulInputLHS(session.graph, params, "a"), b = createBSMatMulInputRHS(session.graph, params, "b");
          const std::vector<double> left = draw(row.groups * m * k, 3), right = draw(row.groups * k * n, 4);
          session.write("a", a, floats(left));
          session.write("b", b, floats(right));
          session.read("c", bsMatMul(session.graph, params, session.prog, a, b));
          session.run();
          s.dense =
              each_group(row.groups, [&](std::size_t g) { return dense_product(part(left, g, m * k), part(right, g, k * n), m, k, n); });
          for (std::size_t i = 0; i < s.dense.size(); ++i)
            if (zeroed(kind, i / n % m, i % n)) s.dense[i] = 0;
          const std::vector<double> c = session.result("c");
          EXPECT_EQ(std::vector<float>(c.begin(), c.end()), s.csr().nzValues);
        }
}

TEST(SparseMasked, softmax_and_its_gradient) {
  for (const Machine machine : kMachines)
    for (const Row& row : kRows)
      for (const SubBlockMask kind : {SubBlockMask::None, SubBlockMask::ZeroUpperTriangle})
        for (const bool in_place : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {}", name_of(machine), row.dim[2]));
          const std::size_t m = row.dim[0], n = row.dim[2];
          const std::array<int, 2> dim = {row.dim[0] * static_cast<int>(row.groups), row.dim[2]}, block = {row.block[0], row.block[2]};
          const SparseCase s = groups_of(m, n, {static_cast<std::size_t>(row.block[0]), static_cast<std::size_t>(row.block[2])}, row);
          const std::vector<float> values = s.csr().nzValues;
          SparseSession session(machine);
          Graph& g = session.graph;
          const std::size_t area = block[0] * block[1];
          const Tensor x = g.addVariable(FLOAT, {s.blocks(), area}), dy = g.addVariable(FLOAT, {s.blocks(), area});
          map_tensor(g, x, Mapping::linear);
          map_tensor(g, dy, Mapping::linear);
          session.write("x", x, values);
          const std::vector<double> gradient = draw(s.blocks() * area, 5);
          session.write("dy", dy, floats(gradient));
          Tensor y = x;
          if (in_place)
            bsSoftmaxInPlace(g, x, dim, block, s.mask, kind, row.groups, session.prog);
          else
            y = bsSoftmax(g, x, dim, block, s.mask, kind, row.groups, session.prog);
          session.read("y", y);
          session.read("dx", bsSoftmaxGrad(g, y, dy, dim, block, s.mask, session.prog));
          session.run();
          // Dense, with what does not count left out.
          SparseCase there = s, dense_dy = s;
          std::size_t at = 0;
          const std::size_t across = n / block[1];
          for (std::size_t b = 0; b < s.mask.size(); ++b)
            for (std::size_t i = 0; s.mask[b] && i < area; ++i) {
              const std::size_t r = b / across * block[0] + i / block[1], c = b % across * block[1] + i % block[1];
              dense_dy.dense[r * n + c] = gradient[at++];
            }
          SparseCase sm = s, dx = s;
          for (std::size_t r = 0; r < s.rows; ++r) {
            double sum = 0, dot = 0;
            const auto counts = [&](std::size_t c) { return s.mask[r / block[0] * across + c / block[1]] && !zeroed(kind, r % m, c); };
            for (std::size_t c = 0; c < n; ++c) sum += counts(c) ? std::exp(s.dense[r * n + c]) : 0;
            for (std::size_t c = 0; c < n; ++c) sm.dense[r * n + c] = counts(c) ? std::exp(s.dense[r * n + c]) / sum : 0;
            for (std::size_t c = 0; c < n; ++c) dot += sm.dense[r * n + c] * dense_dy.dense[r * n + c];
            for (std::size_t c = 0; c < n; ++c) dx.dense[r * n + c] = sm.dense[r * n + c] * (dense_dy.dense[r * n + c] - dot);
          }
          const auto close = [&](const char* name, const SparseCase& expected) {
            const std::vector<float> e = expected.csr().nzValues;
            Values v{FLOAT, {e.size()}, session.result(name)};
            expect_close(v, {e.begin(), e.end()}, {1e-5, 1e-5}, name);
          };
          close("y", sm);
          close("dx", dx);
        }
}

TEST(SparseMasked, errors_say_what_was_expected) {
  const std::vector<unsigned char> mask(4, 1);
  EXPECT_THROW(BSMatMulParams({8, 16, 16}, {8, 8, 8}, std::vector<unsigned char>(3, 1), false, FLOAT, FLOAT, FLOAT),
               poputil::poplibs_error);
  EXPECT_THROW(BSMatMulParams({8, 15, 16}, {8, 8, 8}, mask, false, FLOAT, FLOAT, FLOAT), poputil::poplibs_error);
  EXPECT_THROW(BSMatMulParams({8, 16, 16}, {8, 8, 8}, mask, false, INT, FLOAT, FLOAT), poputil::poplibs_error);
  EXPECT_THROW(BSMatMulParams({8, 16, 16}, {8, 8, 8}, {1, 0, 2, 1}, false, FLOAT, FLOAT, FLOAT), poputil::poplibs_error);
  SparseSession session(Machine::ipu1);
  const Tensor t = session.graph.addVariable(FLOAT, {3, 64});
  EXPECT_THROW(bsSoftmax(session.graph, t, {16, 16}, {8, 8}, mask, SubBlockMask::None, 1, session.prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
