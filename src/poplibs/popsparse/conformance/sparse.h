// Sparse matrices for tests: drawn, as dense doubles, and in the library's formats.
#pragma once

#include <poplar/Engine.hpp>
#include <popops/Cast.hpp>
#include <popops/codelets.hpp>
#include <popsparse/SparsePartitioner.hpp>
#include <popsparse/SparseStorageFormats.hpp>
#include <popsparse/codelets.hpp>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "oplib.h"

namespace oplib {

using BlockShape = std::array<std::size_t, 2>;

// Small integers at the blocks that a mask has, so that sums are exact in any order.
struct SparseCase {
  std::size_t rows, columns;
  BlockShape block;
  std::vector<std::uint8_t> mask;  // of blocks, row after row
  std::vector<double> dense;       // rows x columns
  std::size_t blocks() const;
  popsparse::CSRMatrix<float> csr() const;
};

// Each block is there with the probability `density`; `first_rows` of blocks have all theirs.
SparseCase draw_sparse(std::size_t rows, std::size_t columns, BlockShape block, double density, std::uint64_t seed,
                       std::size_t first_rows = 0);

// a {rows x inner} times b {inner x columns}.
std::vector<double> dense_product(const std::vector<double>& a, const std::vector<double>& b, std::size_t rows, std::size_t inner,
                                  std::size_t columns);
std::vector<double> transposed(const std::vector<double>& a, std::size_t rows, std::size_t columns);

inline std::size_t SparseCase::blocks() const {
  std::size_t n = 0;
  for (const std::uint8_t m : mask) n += m;
  return n;
}

inline popsparse::CSRMatrix<float> SparseCase::csr() const {
  popsparse::CSRMatrix<float> m(block);
  m.numRows = rows, m.numColumns = columns;
  m.rowIndices.push_back(0);
  const std::size_t across = columns / block[1];
  for (std::size_t r = 0; r < rows / block[0]; ++r) {
    for (std::size_t c = 0; c < across; ++c) {
      if (mask[r * across + c] == 0) continue;
      m.columnIndices.push_back(c * block[1]);
      for (std::size_t a = 0; a < block[0]; ++a)
        for (std::size_t b = 0; b < block[1]; ++b)
          m.nzValues.push_back(static_cast<float>(dense[(r * block[0] + a) * columns + c * block[1] + b]));
    }
    m.rowIndices.push_back(m.nzValues.size());
  }
  return m;
}

inline SparseCase draw_sparse(std::size_t rows, std::size_t columns, BlockShape block, double density, std::uint64_t seed,
                              std::size_t first_rows) {
  SparseCase s{rows, columns, block, {}, std::vector<double>(rows * columns)};
  std::mt19937_64 random(seed);
  const std::size_t across = columns / block[1];
  for (std::size_t r = 0; r < rows / block[0]; ++r)
    for (std::size_t c = 0; c < across; ++c) {
      const bool there = r < first_rows || static_cast<double>(random() >> 11) * 0x1p-53 < density;
      s.mask.push_back(there);
      if (!there) continue;
      for (std::size_t a = 0; a < block[0]; ++a)
        for (std::size_t b = 0; b < block[1]; ++b)
          s.dense[(r * block[0] + a) * columns + c * block[1] + b] = static_cast<double>(random() % 7) - 3;
    }
  return s;
}

inline std::vector<double> dense_product(const std::vector<double>& a, const std::vector<double>& b, std::size_t rows, std::size_t inner,
                                         std::size_t columns) {
  std::vector<double> out(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t i = 0; i < inner; ++i)
      for (std::size_t c = 0; c < columns; ++c) out[r * columns + c] += a[r * inner + i] * b[i * columns + c];
  return out;
}

inline std::vector<double> transposed(const std::vector<double>& a, std::size_t rows, std::size_t columns) {
  std::vector<double> out(a.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = a[r * columns + c];
  return out;
}

// Host values go in and out as floats.
struct SparseSession {
  poplar::Graph graph;
  poplar::program::Sequence prog, before;
  std::vector<std::pair<std::string, std::vector<float>>> in;
  std::vector<std::pair<std::string, std::vector<unsigned short>>> words;
  std::vector<std::pair<std::string, std::vector<unsigned>>> indices;
  std::vector<std::pair<std::string, std::vector<float>>> out;
  poplar::Device device;

  explicit SparseSession(Machine machine) : graph(device_of(machine).getTarget()), device(device_of(machine)) {
    popops::addCodelets(graph);
    popsparse::addCodelets(graph);
  }
  void read(const std::string& name, const poplar::Tensor& t) {
    graph.createHostRead(name, t.elementType() == poplar::HALF ? popops::cast(graph, t, poplar::FLOAT, prog) : t);
    out.emplace_back(name, std::vector<float>(t.numElements()));
  }
  void write(const std::string& name, const poplar::Tensor& t, std::vector<float> values) {
    poplar::Tensor from = t;
    if (t.elementType() == poplar::HALF) {
      from = graph.clone(poplar::FLOAT, t);
      popops::castWithOutput(graph, from, t, before);
    }
    graph.createHostWrite(name, from);
    in.emplace_back(name, std::move(values));
  }
  void run() {
    poplar::Engine engine(graph, poplar::program::Sequence({before, prog}));
    engine.load(device);
    for (auto& [name, v] : in) engine.writeTensor(name, v.data(), v.data() + v.size());
    for (auto& [name, v] : words) engine.writeTensor(name, v.data(), v.data() + v.size());
    for (auto& [name, v] : indices) engine.writeTensor(name, v.data(), v.data() + v.size());
    engine.run(0);
    for (auto& [name, v] : out) engine.readTensor(name, v.data(), v.data() + v.size());
  }
  std::vector<double> result(const std::string& name) const {
    for (const auto& [key, v] : out)
      if (key == name) return {v.begin(), v.end()};
    return {};
  }
  void write_sparse(const popsparse::dynamic::SparseTensor& t, const popsparse::dynamic::SparsityDataImpl<float>& data) {
    graph.createHostWrite("words", t.getMetaInfoTensor());
    words.emplace_back("words", std::vector<unsigned short>(data.metaInfo.begin(), data.metaInfo.end()));
    write("values", t.getNzValuesTensor(), data.nzValues);
  }
};

inline std::vector<float> floats(const std::vector<double>& v) { return {v.begin(), v.end()}; }
inline std::vector<double> draw(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  const auto value = integers(-3, 3, seed);
  for (std::size_t i = 0; i < n; ++i) out[i] = value(i);
  return out;
}

}  // namespace oplib
