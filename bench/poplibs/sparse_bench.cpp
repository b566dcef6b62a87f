// Products of sparse matrices with dense ones on the CPU device, beside loops over compressed rows by hand on as many threads: single
// elements and blocks, known when the graph is built and changing.
#include <algorithm>
#include <array>
#include <random>
#include <thread>

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <popops/codelets.hpp>
#include <popsparse/MatMul.hpp>
#include <popsparse/MatMulParams.hpp>
#include <popsparse/SparsePartitioner.hpp>
#include <popsparse/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;
using Matrix = popsparse::CSRMatrix<float>;

constexpr std::size_t kSide = 4096;
constexpr unsigned kTurns = 15;

Matrix draw(std::size_t block, double density) {
  std::mt19937 random(1);
  const std::array<std::size_t, 2> shape = {block, block};
  Matrix m(shape);
  m.numRows = m.numColumns = kSide;
  m.rowIndices.push_back(0);
  for (std::size_t r = 0; r < kSide; r += block) {
    for (std::size_t c = 0; c < kSide; c += block) {
      if (static_cast<double>(random()) > density * 4294967296.0) continue;
      m.columnIndices.push_back(c);
      for (std::size_t i = 0; i < block * block; ++i) m.nzValues.push_back(static_cast<float>(random() % 7) - 3);
    }
    m.rowIndices.push_back(m.nzValues.size());
  }
  return m;
}

// Rows [begin, end) of blocks: y += block * x.
void rows_by_hand(const Matrix& m, const std::vector<float>& x, std::vector<float>& y, std::size_t width, std::size_t begin,
                  std::size_t end) {
  const std::size_t block = m.getNumRowsInBlock(), area = block * block;
  for (std::size_t r = begin; r < end; ++r) {
    float* const rows = &y[r * block * width];
    std::fill(rows, rows + block * width, 0.f);
    for (std::size_t at = m.rowIndices[r]; at < m.rowIndices[r + 1]; at += area) {
      const float* const columns = &x[m.columnIndices[at / area] * width];
      for (std::size_t a = 0; a < block; ++a)
        for (std::size_t b = 0; b < block; ++b) {
          const float value = m.nzValues[at + a * block + b];
          for (std::size_t c = 0; c < width; ++c) rows[a * width + c] += value * columns[b * width + c];
        }
    }
  }
}

struct Program {
  poplar::Graph graph{poplar::Device::createCPUDevice().getTarget()};
  poplar::program::Sequence prog;
  Program() {
    popops::addCodelets(graph);
    popsparse::addCodelets(graph);
  }
};

void race(const std::string& what, Program& p, const Tensor& values, const std::vector<float>& in, const Tensor* words,
          const std::vector<unsigned short>& places, const Tensor& x, const Tensor& y, const Matrix& m, std::size_t width) {
  p.graph.createHostWrite("values", values);
  p.graph.createHostWrite("x", x);
  p.graph.createHostRead("y", y);
  if (words != nullptr) p.graph.createHostWrite("words", *words);
  poplar::Engine engine(p.graph, p.prog);
  engine.load(poplar::Device::createCPUDevice());
  std::vector<float> dense(kSide * width), ours(kSide * width), theirs(kSide * width);
  for (std::size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<float>(i % 11) - 5;
  engine.writeTensor("values", in.data(), in.data() + in.size());
  engine.writeTensor("x", dense.data(), dense.data() + dense.size());
  if (words != nullptr) engine.writeTensor("words", places.data(), places.data() + places.size());
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t lines = kSide / m.getNumRowsInBlock();
  const auto by_hand = [&] {
    std::vector<std::thread> team;
    for (unsigned t = 0; t < threads; ++t)
      team.emplace_back([&, t] { rows_by_hand(m, dense, theirs, width, lines * t / threads, lines * (t + 1) / threads); });
    for (std::thread& t : team) t.join();
  };
  double best = 1e30, peer = 1e30;
  for (unsigned i = 0; i < kTurns; ++i) {
    best = std::min(best, seconds_in_turn([&] { engine.run(0); }));
    peer = std::min(peer, seconds_in_turn(by_hand));
  }
  engine.readTensor("y", ours.data(), ours.data() + ours.size());
  if (ours != theirs) throw std::runtime_error(what + ": the loop by hand has another result");
  print_figure({what, "ms", 1e3 * best, 1e3 * peer, "hand loop", 1});
}

void changing(const Matrix& m, double density, std::size_t width, const std::string& what) {
  using namespace popsparse::dynamic;
  Program p;
  const SparsityParams kind(SparsityType::Block, SparsityStructure::Unstructured, m.getBlockDimensions());
  const auto params = MatMulParams::createWithNzRatio(kind, density, 1, kSide, kSide, width);
  const SparseTensor matrix = createSparseDenseMatMulLHS(p.graph, poplar::FLOAT, params);
  const Tensor x = createSparseDenseMatMulRHS(p.graph, poplar::FLOAT, params), y = sparseDenseMatMul(p.graph, matrix, x, p.prog);
  const auto data = Partitioner<float>(params, poplar::FLOAT, p.graph.getTarget(), {}).createSparsityDataImpl(m);
  const Tensor& words = matrix.getMetaInfoTensor();
  race(what, p, matrix.getNzValuesTensor(), data.nzValues, &words, {data.metaInfo.begin(), data.metaInfo.end()}, x, y, m, width);
}

void known(const Matrix& m, std::size_t width, const std::string& what) {
  using namespace popsparse::static_;
  Program p;
  const auto params = MatMulParams::createForSparseDense(1, kSide, kSide, width);
  const SparseTensor matrix = createSparseDenseMatMulLHS(p.graph, poplar::FLOAT, params, m);
  const Tensor x = createSparseDenseMatMulRHS(p.graph, poplar::FLOAT, params, m), y = sparseDenseMatMul(p.graph, matrix, x, p.prog);
  race(what, p, matrix.getNzValuesTensor(), m.nzValues, nullptr, {}, x, y, m, width);
}

void run() {
  struct Size {
    std::size_t block;
    double density;
  };
  for (const Size& size : {Size{1, 0.01}, Size{4, 0.05}, Size{16, 0.05}}) {
    const Matrix m = draw(size.block, size.density);
    for (const std::size_t width : {std::size_t{1}, std::size_t{16}, std::size_t{256}}) {
      const std::string what =
          fmt::format("sparse 4096 x 4096 of {0} x {0} blocks, {1:g} stored, times {2} columns", size.block, size.density, width);
      known(m, width, what + ", known");
      changing(m, size.density, width, what + ", changing");
    }
  }
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("sparse_bench", pando::bench::run); }
