// A sparse matrix times a vector, again and again: the 7-point operator of a cube, in compressed rows. As public solvers for tile machines
// do it, each tile has some of the rows, numbers the columns that they need from 0 (its own first, then those of others), and gets the
// values of these columns one after the other in one edge. The OpenMP program has one matrix with the cube's own numbers.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "codelets/loops.h"
#include "poplibs/programs/program.h"

namespace pando::bench {
namespace {

constexpr std::size_t kSide = 92, kRows = kSide * kSide * kSide, kProducts = 10;
constexpr unsigned kTiles = 1472, kWorkers = 6;

struct Matrix {
  std::vector<unsigned> row_begin{0}, columns;
  std::vector<float> values;
};

// Rows that sum to one: the products stay in range.
Matrix cube() {
  Matrix m;
  const auto side = static_cast<std::ptrdiff_t>(kSide);
  const std::array<std::ptrdiff_t, 7> offsets = {-side * side, -side, -1, 0, 1, side, side * side};
  for (std::ptrdiff_t row = 0; row < static_cast<std::ptrdiff_t>(kRows); ++row) {
    const std::array<std::ptrdiff_t, 3> at = {row / (side * side), row / side % side, row % side};
    const std::array<bool, 7> inside = {at[0] > 0, at[1] > 0, at[2] > 0, true, at[2] + 1 < side, at[1] + 1 < side, at[0] + 1 < side};
    const auto neighbours = static_cast<float>(std::count(inside.begin(), inside.end(), true) - 1);
    for (std::size_t k = 0; k < 7; ++k) {
      if (!inside[k]) continue;
      m.columns.push_back(static_cast<unsigned>(row + offsets[k]));
      m.values.push_back(offsets[k] == 0 ? 0.4f : 0.6f / neighbours);
    }
    m.row_begin.push_back(static_cast<unsigned>(m.columns.size()));
  }
  return m;
}

// A vertex's rows, with columns counted among those that it gets.
struct Share {
  std::size_t begin, end;              // rows
  std::vector<unsigned> row_begin{0};  // from 0
  std::vector<unsigned> columns;
  std::vector<Interval> needed;  // columns of the cube, ascending
};

Share share_of(const Matrix& m, std::size_t begin, std::size_t end) {
  Share s{begin, end, {0}, {}, {}};
  const auto first = m.columns.begin() + m.row_begin[begin], last = m.columns.begin() + m.row_begin[end];
  std::vector<unsigned> needed(first, last);
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  for (const unsigned c : needed) {
    if (s.needed.empty() || s.needed.back().end() != c)
      s.needed.emplace_back(c, c + 1);
    else
      s.needed.back() = Interval(s.needed.back().begin(), c + 1);
  }
  for (auto c = first; c != last; ++c)
    s.columns.push_back(static_cast<unsigned>(std::lower_bound(needed.begin(), needed.end(), *c) - needed.begin()));
  for (std::size_t r = begin; r < end; ++r) s.row_begin.push_back(m.row_begin[r + 1] - m.row_begin[begin]);
  return s;
}

Execute product(Graph& g, const Matrix& m, const std::vector<Share>& shares, const std::array<Tensor, 3>& matrix, const Tensor& from,
                const Tensor& to) {
  const ComputeSet cs = g.addComputeSet("product");
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& s = shares[i];
    std::vector<Tensor> needed;
    for (const Interval& c : s.needed) needed.push_back(from.slice(c));
    const VertexRef v = g.addVertex(cs, "SparseRows",
                                    {{"rowBegin", matrix[0].slice(s.begin + i, s.end + i + 1)},
                                     {"columns", matrix[1].slice(m.row_begin[s.begin], m.row_begin[s.end])},
                                     {"values", matrix[2].slice(m.row_begin[s.begin], m.row_begin[s.end])},
                                     {"x", concat(needed)},
                                     {"y", to.slice(s.begin, s.end)}});
    g.setTileMapping(v, static_cast<unsigned>(i / kWorkers));
  }
  return Execute(cs);
}

}  // namespace

void sparse_product() {
  const Matrix m = cube();
  std::vector<Share> shares;
  constexpr std::size_t kVertices = std::size_t{kTiles} * kWorkers;
  for (std::size_t i = 0; i < kVertices; ++i) shares.push_back(share_of(m, kRows * i / kVertices, kRows * (i + 1) / kVertices));

  Program p;
  Graph& g = p.graph;
  const std::array<Tensor, 3> matrix = {g.addVariable(UNSIGNED_INT, {kRows + kVertices}), g.addVariable(UNSIGNED_INT, {m.columns.size()}),
                                        g.addVariable(FLOAT, {m.values.size()})};
  const Tensor side[2] = {g.addVariable(FLOAT, {kRows}), g.addVariable(FLOAT, {kRows})};
  std::vector<unsigned> row_begin, columns;
  for (std::size_t i = 0; i < kVertices; ++i) {
    const Share& s = shares[i];
    const unsigned tile = static_cast<unsigned>(i / kWorkers);
    g.setTileMapping(matrix[0].slice(s.begin + i, s.end + i + 1), tile);
    for (const Tensor& t : {matrix[1], matrix[2]}) g.setTileMapping(t.slice(m.row_begin[s.begin], m.row_begin[s.end]), tile);
    for (const Tensor& t : side) g.setTileMapping(t.slice(s.begin, s.end), tile);
    row_begin.insert(row_begin.end(), s.row_begin.begin(), s.row_begin.end());
    columns.insert(columns.end(), s.columns.begin(), s.columns.end());
  }
  const char* const names[] = {"row begin", "columns", "values"};
  for (std::size_t k = 0; k < 3; ++k) g.createHostWrite(names[k], matrix[k]);
  g.createHostWrite("in", side[0]);
  g.createHostRead("out", side[0]);
  const Sequence both{product(g, m, shares, matrix, side[0], side[1]), product(g, m, shares, matrix, side[1], side[0])};
  const double compiling = p.compile(Repeat(kProducts / 2, both));

  std::vector<float> vector[2] = {std::vector<float>(kRows), std::vector<float>(kRows)};
  for (std::size_t i = 0; i < kRows; ++i) vector[0][i] = static_cast<float>((i * 131) % 1000) / 1000 + 0.5f;
  p.write(names[0], row_begin);
  p.write(names[1], columns);
  p.write(names[2], m.values);
  p.write("in", vector[0]);
  const auto loop = [&] {
    for (std::size_t k = 0; k < kProducts; ++k) {
      const float* const from = vector[k % 2].data();
      float* const to = vector[1 - k % 2].data();
#pragma omp parallel for schedule(static)
      for (std::size_t r = 0; r < kRows; ++r)
        to[r] = sparse_row(&m.columns[m.row_begin[r]], &m.values[m.row_begin[r]], m.row_begin[r + 1] - m.row_begin[r], from);
    }
  };
  const Times t = race(p, loop);
  check_equal("sparse product", p.read<float>("out", kRows), vector[0]);
  print("sparse matrix x vector, 778,688 rows of 7, 8,832 vertices, one product", kProducts, t, 1.5, compiling, 0.5);
}

}  // namespace pando::bench
