// Products, layers and embeddings of sparse matrices that the host changes, against dense loops.
#include <poplar/Engine.hpp>
#include <popops/codelets.hpp>
#include <popsparse/Embedding.hpp>
#include <popsparse/FullyConnected.hpp>
#include <popsparse/MatMul.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/SparsePartitioner.hpp>
#include <popsparse/codelets.hpp>
#include <poputil/exceptions.hpp>

#include "sparse.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace popsparse::dynamic;
using program::Sequence;

struct Row {
  std::size_t rows, columns, width;
  BlockShape block;
  double ratio, density;
  std::size_t first_rows = 0;  // of blocks that are all there
  OptionFlags options{};
};

const std::vector<Row> kRows = {
    {16, 24, 8, {1, 1}, 0.3, 0.25},
    {64, 48, 5, {1, 1}, 0.2, 0.15},
    {64, 64, 1, {4, 4}, 0.4, 0.35},
    {32, 96, 70, {8, 16}, 0.6, 0.5},
    {8, 8, 3, {8, 8}, 1, 1},
    {128, 64, 4, {1, 1}, 0.2, 0.1, 8},  // rows that fill more than their bucket
    {64, 64, 6, {4, 4}, 0.3, 0.05, 3},
    {48, 80, 9, {1, 1}, 0.2, 0.15, 0, {{"partitioner.forceBucketSpills", "true"}}},
    {48, 80, 9, {2, 4}, 0.5, 0.3, 0, {{"metaInfoBucketOversizeProportion", "0.1"}}},
    {40, 30, 7, {1, 1}, 0.5, 0},  // nothing stored
};

SparsityParams kind_of(const Row& row) { return SparsityParams(SparsityType::Block, SparsityStructure::Unstructured, row.block); }

TEST(SparseDynamic, products) {
  for (const Machine machine : kMachines)
    for (const Row& row : kRows)
      for (const bool lhs : {false, true})
        for (const bool rhs : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {}x{}x{} lhs {} rhs {}", name_of(machine), row.rows, row.columns, row.width, lhs, rhs));
          const SparseCase s = draw_sparse(row.rows, row.columns, row.block, row.density, 7, row.first_rows);
          const auto params = MatMulParams::createWithNzRatio(kind_of(row), row.ratio, 1, row.rows, row.columns, row.width);
          SparseSession session(machine);
          const auto matrix = createSparseDenseMatMulLHS(session.graph, FLOAT, params, "lhs", row.options);
          const std::size_t inner = lhs ? row.rows : row.columns, outer = lhs ? row.columns : row.rows;
          Tensor x = lhs ? session.graph.addVariable(FLOAT, {1, inner, row.width})
                         : createSparseDenseMatMulRHS(session.graph, FLOAT, params, "rhs", row.options);
          if (lhs) map_tensor(session.graph, x, Mapping::linear);
          const std::vector<double> values = draw(inner * row.width, 3);
          session.write("x", x, floats(values));
          if (rhs) x = x.dimRoll(1, 2);
          const Tensor y = sparseDenseMatMul(session.graph, matrix, x, session.prog, lhs, rhs, "product", row.options);
          ASSERT_EQ(y.shape(), (std::vector<std::size_t>{1, outer, row.width}));
          session.read("y", y);
          const Partitioner<float> partitioner(params, FLOAT, session.graph.getTarget(), row.options);
          const auto data = partitioner.createSparsityDataImpl(s.csr());
          session.write_sparse(matrix, data);
          session.run();
          if (row.options.begin() != row.options.end() && row.options.begin()->first == "partitioner.forceBucketSpills" &&
              machine != Machine::cpu)
            EXPECT_GT(data.metaInfo[1], 0u);
          EXPECT_EQ(session.result("y"),
                    dense_product(lhs ? transposed(s.dense, row.rows, row.columns) : s.dense, values, outer, inner, row.width));
          const auto back = partitioner.sparsityDataImplToCSRMatrix(data);
          EXPECT_EQ(back.nzValues, s.csr().nzValues);
          EXPECT_EQ(back.rowIndices, s.csr().rowIndices);
          EXPECT_EQ(back.columnIndices, s.csr().columnIndices);
          // All three formats say the same.
          EXPECT_EQ(partitioner.createSparsityDataImpl(partitioner.sparsityDataImplToCSCMatrix(data)).metaInfo, data.metaInfo);
          EXPECT_EQ(partitioner.createSparsityDataImpl(partitioner.sparsityDataImplToCOOMatrix(data)).nzValues, data.nzValues);
        }
}

TEST(SparseDynamic, layers_train) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const Row& row : kRows) {
        SCOPED_TRACE(fmt::format("{} {} {}x{}x{}", name_of(machine), type.toString(), row.rows, row.columns, row.width));
        const SparseCase s = draw_sparse(row.rows, row.columns, row.block, row.density, 11, row.first_rows);
        const auto params = FullyConnectedParams::createWithNzRatio(kind_of(row), row.ratio, row.width, 1, row.columns, row.rows);
        SparseSession session(machine);
        Graph& g = session.graph;
        OptionFlags options = row.options;
        options.set({{"doGradAPass", "true"}, {"doGradWPass", "true"}});
        const auto weights = createFullyConnectedWeights(g, type, params, "weights", options);
        const Tensor x = createFullyConnectedInput(g, type, params, "x", options);
        const Tensor dy = g.addVariable(type, {row.width, row.rows});
        map_tensor(g, dy, Mapping::scattered);
        const std::vector<double> xs = draw(row.width * row.columns, 5), dys = draw(row.width * row.rows, 6);
        session.write("x", x, floats(xs));
        session.write("dy", dy, floats(dys));
        session.read("y", fullyConnectedFwd(g, weights, x, params, session.prog, "fwd", options));
        session.read("dx", fullyConnectedGradA(g, weights, dy, params, session.prog, "dx", options));
        session.read("dw", fullyConnectedSparseGradW(g, weights.getMetaInfoTensor(), dy, x, params, session.prog, "dw", options));
        const Partitioner<float> partitioner(params, type, g.getTarget(), options);
        const auto data = partitioner.createSparsityDataImpl(s.csr());
        session.write_sparse(weights, data);
        session.run();
        EXPECT_EQ(session.result("y"), dense_product(xs, transposed(s.dense, row.rows, row.columns), row.width, row.columns, row.rows));
        EXPECT_EQ(session.result("dx"), dense_product(dys, s.dense, row.width, row.rows, row.columns));
        auto gradients = data;
        const std::vector<double> dw = session.result("dw");
        gradients.nzValues.assign(dw.begin(), dw.end());
        SparseCase expected = s;
        const std::vector<double> all = dense_product(transposed(dys, row.width, row.rows), xs, row.rows, row.width, row.columns);
        for (std::size_t i = 0; i < all.size(); ++i) expected.dense[i] = all[i];
        EXPECT_EQ(partitioner.sparsityDataImplToCSRMatrix(gradients).nzValues, expected.csr().nzValues);
      }
}

TEST(SparseDynamic, embeddings) {
  for (const Machine machine : kMachines)
    for (const Row& row : kRows) {
      SCOPED_TRACE(fmt::format("{} {}x{}", name_of(machine), row.rows, row.columns));
      const SparseCase s = draw_sparse(row.rows, row.columns, row.block, row.density, 13, row.first_rows);
      const auto params = FullyConnectedParams::createWithNzRatio(kind_of(row), row.ratio, row.width, 1, row.columns, row.rows);
      SparseSession session(machine);
      Graph& g = session.graph;
      const auto table = createFullyConnectedWeights(g, FLOAT, params, "table", row.options);
      const std::size_t n = 13;
      const Tensor indices = createIndicesTensor(g, params, n, row.options),
                   slices = createSliceTensor(g, FLOAT, params, n, "slices", row.options);
      const Tensor scale = g.addConstant(FLOAT, {}, 2.f);
      g.setTileMapping(scale, 0);
      session.read("rows", embeddingSlice(g, table, indices, session.prog, params, "slice", row.options));
      embeddingUpdateAdd(g, table, slices, indices, scale, session.prog, params, "update", row.options);
      session.read("updated", table.getNzValuesTensor());
      std::vector<unsigned> at(n);
      for (std::size_t i = 0; i < n; ++i) at[i] = static_cast<unsigned>(i * 5 % (row.rows + 1));  // the last one is no row
      at[1] = at[0];
      const std::vector<double> added = draw(n * row.columns, 9);
      g.createHostWrite("indices", indices);
      session.indices.emplace_back("indices", at);
      session.write("slices", slices, floats(added));
      const Partitioner<float> partitioner(params, FLOAT, g.getTarget(), row.options);
      const auto data = partitioner.createSparsityDataImpl(s.csr());
      session.write_sparse(table, data);
      session.run();
      std::vector<double> rows;
      SparseCase expected = s;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < row.columns; ++c) {
          rows.push_back(at[i] < row.rows ? s.dense[at[i] * row.columns + c] : 0);
          if (at[i] < row.rows) expected.dense[at[i] * row.columns + c] += 2 * added[i * row.columns + c];
        }
      EXPECT_EQ(session.result("rows"), rows);
      auto updated = data;
      const std::vector<double> values = session.result("updated");
      updated.nzValues.assign(values.begin(), values.end());
      EXPECT_EQ(partitioner.sparsityDataImplToCSRMatrix(updated).nzValues, expected.csr().nzValues);
    }
}

// More rows and columns than the words of a bucket count: several parts, on any number of tiles.
TEST(SparseDynamic, matrices_beyond_16_bits) {
  const auto params = MatMulParams::createWithNumNonZeroValues({}, 3, 1, 70'000, 66'000, 2);
  for (const Machine machine : {Machine::cpu, Machine::ipu1}) {
    SparseSession session(machine);
    const auto matrix = createSparseDenseMatMulLHS(session.graph, FLOAT, params);
    const Tensor x = createSparseDenseMatMulRHS(session.graph, FLOAT, params);
    session.write("x", x, std::vector<float>(66'000 * 2, 2));
    const Tensor y = sparseDenseMatMul(session.graph, matrix, x, session.prog);
    session.read("y", y);
    const popsparse::COOMatrix<float> coo(70'000, 66'000, std::vector<float>{3, 5, 7}, {65'999, 0, 65'535}, {69'999, 69'999, 65'536});
    session.write_sparse(matrix, Partitioner<float>(params, FLOAT, session.graph.getTarget(), {}).createSparsityDataImpl(coo));
    session.run();
    std::vector<double> expected(70'000 * 2);
    expected[2 * 69'999] = expected[2 * 69'999 + 1] = 16;
    expected[2 * 65'536] = expected[2 * 65'536 + 1] = 14;
    EXPECT_EQ(session.result("y"), expected) << name_of(machine);
  }
}

// One plan serves many patterns; a program is built once.
TEST(SparseDynamic, patterns_change_between_runs) {
  const Row row{64, 64, 8, {1, 1}, 0.2, 0.1};
  const auto params = MatMulParams::createWithNzRatio(kind_of(row), row.ratio, 1, row.rows, row.columns, row.width);
  for (const Machine machine : kMachines) {
    Device device = device_of(machine);
    Graph g(device.getTarget());
    popops::addCodelets(g);
    popsparse::addCodelets(g);
    Sequence prog;
    const auto matrix = createSparseDenseMatMulLHS(g, FLOAT, params);
    const Tensor x = createSparseDenseMatMulRHS(g, FLOAT, params), y = sparseDenseMatMul(g, matrix, x, prog);
    g.createHostWrite("words", matrix.getMetaInfoTensor());
    g.createHostWrite("values", matrix.getNzValuesTensor());
    g.createHostWrite("x", x);
    g.createHostRead("y", y);
    Engine engine(g, prog);
    engine.load(device);
    const std::vector<double> xs = draw(row.columns * row.width, 3);
    const std::vector<float> in = floats(xs);
    engine.writeTensor("x", in.data(), in.data() + in.size());
    const Partitioner<float> partitioner(params, FLOAT, g.getTarget(), {});
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const SparseCase s = draw_sparse(row.rows, row.columns, row.block, 0.02, seed, seed * 3);
      const auto data = partitioner.createSparsityDataImpl(s.csr());
      const std::vector<unsigned short> words(data.metaInfo.begin(), data.metaInfo.end());
      engine.writeTensor("words", words.data(), words.data() + words.size());
      engine.writeTensor("values", data.nzValues.data(), data.nzValues.data() + data.nzValues.size());
      engine.run(0);
      std::vector<float> out(row.rows * row.width);
      engine.readTensor("y", out.data(), out.data() + out.size());
      EXPECT_EQ(std::vector<double>(out.begin(), out.end()), dense_product(s.dense, xs, row.rows, row.columns, row.width))
          << name_of(machine) << seed;
    }
  }
}

TEST(SparseDynamic, large_dense_gradients_are_made_in_parts) {
  const auto splits = [](std::size_t inputs, std::size_t outputs, double memory) {
    Graph graph(device_of(Machine::ipu1).getTarget());
    const auto params = FullyConnectedParams::createWithNzRatio({}, 0.1, 4, 1, inputs, outputs);
    return fullyConnectedDenseGradWSerialSplits(graph, FLOAT, params, {{"availableMemoryProportion", std::to_string(memory)}});
  };
  EXPECT_EQ(splits(64, 64, 0.6), std::make_tuple(1u, 1u, 1u));
  const unsigned parts = std::get<2>(splits(4096, 4096, 0.1));
  EXPECT_GT(parts, 1u);
  EXPECT_EQ(4096 % parts, 0u);
  EXPECT_GT(std::get<2>(splits(4096, 4096, 0.05)), parts);
}

TEST(SparseDynamic, errors_say_what_was_expected) {
  using ::testing::HasSubstr;
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const poputil::poplibs_error& e) { return e.what(); }
    return "";
  };
  const SparsityParams elements;
  EXPECT_THAT(message([&] { MatMulParams::createWithNzRatio(elements, 1.5, 1, 8, 8, 8); }), HasSubstr("above 0 and at most 1"));
  EXPECT_THAT(
      message([&] { MatMulParams::createWithNzRatio({SparsityType::Block, SparsityStructure::Unstructured, {3, 4}}, 0.5, 1, 8, 8, 8); }),
      HasSubstr("3 x 4 do not divide"));
  const auto params = MatMulParams::createWithNzRatio(elements, 0.1, 1, 32, 32, 4);
  const Target target = device_of(Machine::ipu1).getTarget();
  const Partitioner<float> partitioner(params, FLOAT, target, {});
  SparseCase full = draw_sparse(32, 32, {1, 1}, 1, 1);
  EXPECT_THAT(message([&] { partitioner.createSparsityDataImpl(full.csr()); }), HasSubstr("do not fit"));
  popsparse::CSRMatrix<float> broken = draw_sparse(32, 32, {1, 1}, 0.05, 1).csr();
  broken.columnIndices[0] = 40;
  EXPECT_THAT(message([&] { partitioner.createSparsityDataImpl(broken); }), HasSubstr("column 40"));
  SparsityDataImpl<float> data = partitioner.createSparsityDataImpl(draw_sparse(32, 32, {1, 1}, 0.05, 1).csr());
  data.metaInfo[0] = 9999;
  EXPECT_THAT(message([&] { partitioner.sparsityDataImplToCOOMatrix(data); }), HasSubstr("metaInfo"));
  Graph graph(target);
  popsparse::addCodelets(graph);
  Sequence prog;
  const auto matrix = createSparseDenseMatMulLHS(graph, FLOAT, params);
  EXPECT_THAT(message([&] { sparseDenseMatMul(graph, matrix, graph.addVariable(FLOAT, {1, 31, 4}), prog); }), HasSubstr("{1, 31, 4}"));
  EXPECT_THAT(message([&] { sparseDenseMatMul(graph, SparseTensor(), graph.addVariable(FLOAT, {1, 32, 4}), prog); }), HasSubstr("created"));
  EXPECT_THROW(createSparseDenseMatMulLHS(graph, FLOAT, params, "x", {{"nonsense", "1"}}), poplar::invalid_option);
}

}  // namespace
}  // namespace oplib
