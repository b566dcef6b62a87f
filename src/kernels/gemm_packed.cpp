// Products of matrices of any size. B goes into panels of kPanel columns that stay in the second-level cache, kRows rows of A at a
// time meet them; libxsmm multiplies a block of A by a panel.
#include "kernels/gemm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/half_vectors.h"
#include "kernels/transpose.h"

namespace pando::kernels {
namespace {

constexpr unsigned kPanel = 64, kColumns = 512, kDepth = 256, kRows = 72;
constexpr unsigned kFewRows = 8;     // so few that packing B costs more than it saves
constexpr unsigned kStrip = 16;      // elements of a run when strided elements are gathered

const char* at(const PandoMatrix& x, std::size_t i, std::size_t j) {
  return static_cast<const char*>(x.data) + (i * x.row + j * x.column) * (x.half ? 2 : 4);
}

void copy(const PandoMatrix& x, const char* from, float* to, std::size_t n) {
  if (x.half) widen(from, to, n);
  else std::memcpy(to, from, n * sizeof(float));
}

void multiply_all(float* values, std::size_t n, float scale) {
  if (scale == 1) return;
  for (std::size_t i = 0; i < n; ++i) values[i] *= scale;
}

// Elements [i, i + rows) x [j, j + columns) of x, row-major.
void pack(const PandoMatrix& x, std::size_t i, std::size_t j, unsigned rows, unsigned columns, float* to) {
  if (x.column == 1) {
    for (unsigned r = 0; r < rows; ++r) copy(x, at(x, i + r, j), to + std::size_t{r} * columns, columns);
    return;
  }
  if (!x.half) return transpose(reinterpret_cast<const float*>(at(x, i, j)), x.column, columns, rows, to, columns);
  float run[kStrip];
  for (unsigned r = 0; r < rows; r += kStrip) {
    const unsigned n = std::min(kStrip, rows - r);
    for (unsigned c = 0; c < columns; ++c) {
      copy(x, at(x, i + r, j + c), run, n);
      for (unsigned s = 0; s < n; ++s) to[std::size_t{r + s} * columns + c] = run[s];
    }
  }
}

// Rows of floats are read where they are: copying them costs more than it saves.
bool is_read_in_place(const PandoMatrix& x) { return !x.half && x.column == 1; }

// The transpose of the same: its rows follow each other in x.
void pack_turned(const PandoMatrix& x, std::size_t i, std::size_t j, unsigned rows, unsigned columns, float* to) {
  for (unsigned c = 0; c < columns; ++c) copy(x, at(x, i, j + c), to + std::size_t{c} * rows, rows);
}

struct Block {
  const float* data;
  unsigned stride;
  bool turned = false;
};

// Rows of A as the kernel reads them. Where columns follow each other they are only brought together: the kernel takes the transpose.
Block block_of(const PandoMatrix& a, std::size_t i, std::size_t l, unsigned rows, unsigned depth, float* buffer) {
  if (is_read_in_place(a)) return {reinterpret_cast<const float*>(at(a, i, l)), static_cast<unsigned>(a.row)};
  if (a.column == 1) {
    pack(a, i, l, rows, depth, buffer);
    return {buffer, depth};
  }
  pack_turned(a, i, l, rows, depth, buffer);
  return {buffer, rows, true};
}

void multiply_panels(unsigned rows, unsigned columns, unsigned depth, const Block& a, const float* panels, float* c, std::size_t ldc, bool accumulate) {
  for (unsigned j = 0; j < columns; j += kPanel) {
    const unsigned width = std::min(kPanel, columns - j);
    const auto multiply = a.turned ? pando_gemm_turned_f32 : pando_gemm_f32;
    multiply(rows, width, depth, a.data, a.stride, panels + std::size_t{j} * depth, width, c + j, static_cast<unsigned>(ldc), accumulate);
  }
}

// B is read once: as it lies.
void multiply_few_rows(unsigned m, unsigned n, unsigned k, const PandoMatrix& a, const PandoMatrix& b, float* c, std::size_t ldc, float scale,
                       bool accumulate) {
  float rows[kFewRows * kDepth];
  for (unsigned l = 0; l < k; l += kDepth) {
    const unsigned depth = std::min(kDepth, k - l);
    pack(a, 0, l, m, depth, rows);
    multiply_all(rows, std::size_t{m} * depth, scale);
    for (unsigned j = 0; j < n; j += kColumns)
      pando_gemm_f32(m, std::min(kColumns, n - j), depth, rows, depth, reinterpret_cast<const float*>(at(b, l, j)), static_cast<unsigned>(b.row),
                     c + j, static_cast<unsigned>(ldc), accumulate || l > 0);
  }
}

}  // namespace
}  // namespace pando::kernels

void pando_gemm_packed(unsigned m, unsigned n, unsigned k, PandoMatrix a, PandoMatrix b, float* c, std::size_t ldc, float scale,
                       bool accumulate) {
  using namespace pando::kernels;
  if (m <= kFewRows && is_read_in_place(b)) return multiply_few_rows(m, n, k, a, b, c, ldc, scale, accumulate);
  alignas(64) float panels[kColumns * kDepth];
  alignas(64) float rows_of_a[kRows * kDepth];
  for (unsigned j = 0; j < n; j += kColumns) {
    const unsigned columns = std::min(kColumns, n - j);
    for (unsigned l = 0; l < k; l += kDepth) {
      const unsigned depth = std::min(kDepth, k - l);
      for (unsigned p = 0; p < columns; p += kPanel) pack(b, l, j + p, depth, std::min(kPanel, columns - p), panels + std::size_t{p} * depth);
      multiply_all(panels, std::size_t{columns} * depth, scale);
      for (unsigned i = 0; i < m; i += kRows) {
        const unsigned rows = std::min(kRows, m - i);
        const Block block = block_of(a, i, l, rows, depth, rows_of_a);
        multiply_panels(rows, columns, depth, block, panels, c + i * ldc + j, ldc, accumulate || l > 0);
      }
    }
  }
}
