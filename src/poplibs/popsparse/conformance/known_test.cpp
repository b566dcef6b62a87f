// Products with sparse matrices that are known when the graph is built, against dense loops.
#include <popsparse/MatMul.hpp>
#include <popsparse/MatMulParams.hpp>
#include <poputil/exceptions.hpp>

#include "sparse.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace popsparse::static_;

struct Row {
  std::size_t rows, columns, width;
  BlockShape block;
  double density;
  std::size_t first_rows = 0;
  OptionFlags options{};
};

const std::vector<Row> kRows = {
    {16, 24, 8, {1, 1}, 0.25},
    {64, 48, 5, {1, 1}, 0.1},
    {64, 64, 1, {4, 4}, 0.3},
    {32, 96, 70, {8, 16}, 0.5},
    {8, 8, 3, {8, 8}, 1},
    {40, 30, 7, {1, 1}, 0},
    {128, 64, 4, {1, 1}, 0.02, 2},  // rows that many tiles share
    {96, 64, 6, {4, 4}, 0.05, 1, {{"nSplit", "3"}}},
};

// sparse * dense and dense * sparse, each with the other side transposed, and the sparse one.
TEST(SparseKnown, products) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Row& row : kRows)
        for (int form = 0; form < 8; ++form) {
          const bool sparse_left = form & 1, swaps = form & 2, turned = form & 4;
          SCOPED_TRACE(fmt::format("{} {} {}x{}x{} form {}", name_of(machine), type.toString(), row.rows, row.columns, row.width, form));
          const SparseCase s = draw_sparse(row.rows, row.columns, row.block, row.density, 17, row.first_rows);
          const auto params = sparse_left ? MatMulParams::createForSparseDense(1, row.rows, row.columns, row.width)
                                          : MatMulParams::createForDenseSparse(1, row.width, row.rows, row.columns);
          SparseSession session(machine);
          Graph& g = session.graph;
          const auto csr = s.csr();
          const SparseTensor matrix = sparse_left ? createSparseDenseMatMulLHS(g, type, params, csr, "s", row.options)
                                                  : createDenseSparseMatMulRHS(g, type, params, csr, "s", row.options);
          // Of the sparse side as it is multiplied: lines that it shares with the dense side, and others.
          const std::size_t inner = sparse_left == turned ? row.rows : row.columns, outer = row.rows + row.columns - inner;
          Tensor x = turned        ? g.addVariable(type, sparse_left ? std::vector<std::size_t>{1, inner, row.width}
                                                                     : std::vector<std::size_t>{1, row.width, inner})
                            : sparse_left ? createSparseDenseMatMulRHS(g, type, params, csr, "x", row.options)
                                   : createDenseSparseMatMulLHS(g, type, params, csr, "x", row.options);
          if (turned) map_tensor(g, x, Mapping::scattered);
          const std::vector<double> values = draw(inner * row.width, 3);  // as x lies
          session.write("x", x, floats(values));
          if (swaps) x = x.dimRoll(1, 2);
          const Tensor y = sparse_left ? sparseDenseMatMul(g, matrix, x, session.prog, turned, swaps, "product", row.options)
                                       : denseSparseMatMul(g, x, matrix, session.prog, swaps, turned, "product", row.options);
          session.read("y", y);
          const Partitioner<float> partitioner(params, type, g.getTarget(), row.options);
          const auto data = partitioner.createSparsityDataImpl(csr);
          session.write("values", matrix.getNzValuesTensor(), data.nzValues);
          session.run();
          const std::vector<double> sparse = turned ? transposed(s.dense, row.rows, row.columns) : s.dense;
          const std::vector<double> expected =
              sparse_left ? dense_product(sparse, values, outer, inner, row.width) : dense_product(values, sparse, row.width, inner, outer);
          EXPECT_EQ(session.result("y"), expected);
          EXPECT_EQ(partitioner.sparsityDataImplToCSRMatrix(data).nzValues, csr.nzValues);
          EXPECT_EQ(partitioner.createSparsityDataImpl(partitioner.sparsityDataImplToCSCMatrix(data)).nzValues, data.nzValues);
        }
}

TEST(SparseKnown, errors_say_what_was_expected) {
  using ::testing::HasSubstr;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const poputil::poplibs_error& e) { return e.what(); }
    return "";
  };
  SparseSession session(Machine::ipu1);
  Graph& g = session.graph;
  const auto params = MatMulParams::createForSparseDense(1, 16, 16, 4);
  const auto csr = draw_sparse(16, 16, {1, 1}, 0.3, 1).csr();
  EXPECT_THAT(message([&] { createDenseSparseMatMulRHS(g, FLOAT, params, csr); }), HasSubstr("sparse x dense"));
  EXPECT_THAT(message([&] { createSparseDenseMatMulLHS(g, INT, params, csr); }), HasSubstr("int"));
  EXPECT_THAT(message([&] { createSparseDenseMatMulLHS(g, FLOAT, MatMulParams::createForSparseDense(1, 12, 16, 4), csr); }),
              HasSubstr("16"));
  const SparseTensor matrix = createSparseDenseMatMulLHS(g, FLOAT, params, csr);
  EXPECT_THAT(message([&] { sparseDenseMatMul(g, matrix, g.addVariable(FLOAT, {1, 15, 4}), session.prog); }), HasSubstr("{1, 15, 4}"));
  EXPECT_THAT(message([&] { Partitioner<float>(params, FLOAT, g.getTarget(), {}).sparsityDataImplToCOOMatrix({{1.f}}); }),
              HasSubstr("last"));
}

}  // namespace
}  // namespace oplib
