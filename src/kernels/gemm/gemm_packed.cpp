// Products of matrices of any size. B goes into panels of kWide columns that stay in the second-level cache, and strips of rows of A meet
// them, from which C is written once: as much of k as panels hold is multiplied at once.
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/gemm_row.h"
#include "kernels/gemm/gemm_wide.h"
#include "kernels/half_vectors.h"
#include "kernels/transpose.h"

namespace pando::kernels {
namespace {

constexpr unsigned kDepth = 1024, kRows = 72, kStripRows = 6;
// Of a transposed A. Its rows are brought together anew for all panels: more columns at a time. So few rows stay near beside them.
constexpr unsigned kTurnedDepth = 512, kTurnedRows = 48;
constexpr unsigned kRowsAhead = 8;                       // are asked for early
constexpr std::size_t kPanels = std::size_t{192} << 10;  // elements of all panels
constexpr unsigned kFewRows = 8;                         // so few that packing B costs more than it saves
constexpr unsigned kFewDepth = 256, kFewColumns = 512;
constexpr unsigned kTurnedColumns = 32, kTurnedSums = 512;  // of a product of few columns: its transpose has so many columns at a time
constexpr unsigned kRowDepth = kFewRows * kFewDepth, kRowColumns = 4096;  // of a single row: C's part stays in the first-level cache
constexpr unsigned kStrip = 16;                                           // elements of a run when strided elements are gathered

const char* at(const PandoMatrix& x, std::size_t i, std::size_t j) {
  return static_cast<const char*>(x.data) + (i * x.row + j * x.column) * (x.half ? 2 : 4);
}

void copy(const PandoMatrix& x, const char* from, float* to, std::size_t n) {
  if (x.half)
    widen(from, to, n);
  else
    std::memcpy(to, from, n * sizeof(float));
}

// Of these bytes, early: rows lie on other pages than their neighbours, which no hardware asks for in time.
void ask_for(const void* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(from) + i);
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

// B's elements [l, l + depth) x [j, j + columns) as panels.
void pack_panels(const PandoMatrix& b, std::size_t l, std::size_t j, unsigned depth, unsigned columns, float* to) {
  unsigned done = 0;
  if (b.column == 1 && !b.half) {
    done = columns - columns % kWide;
    copy_to_panels(reinterpret_cast<const float*>(at(b, l, j)), b.row, depth, done, to);
  }
  for (unsigned p = done; p < columns; p += kWide) pack(b, l, j + p, depth, std::min(kWide, columns - p), to + std::size_t{p} * depth);
}

void multiply_panels(unsigned rows, unsigned columns, unsigned depth, const float* a, std::size_t row, std::size_t column,
                     const float* panels, float* c, std::size_t ldc, bool accumulate) {
  const unsigned wide = columns - columns % kWide;
  unsigned done = 0;
  if (wide > 0 && multiply_wide({rows, wide, depth, a, row, column, panels, kWide, std::size_t{kWide} * depth, c, ldc, accumulate}))
    done = wide;
  for (unsigned j = done; j < columns; j += kWide) {
    const unsigned width = std::min(kWide, columns - j);
    const auto multiply = column == 1 ? pando_gemm_f32 : pando_gemm_turned_f32;
    multiply(rows, width, depth, a, static_cast<unsigned>(column == 1 ? row : column), panels + std::size_t{j} * depth, width, c + j,
             static_cast<unsigned>(ldc), accumulate);
  }
}

// Rows of A whose columns follow each other in memory: strips of kStripRows rows, each with its columns one after the other.
template <class Multiply>  // multiply(first row, rows, strip)
void for_each_strip(const PandoMatrix& a, std::size_t i, std::size_t l, unsigned rows, unsigned depth, float* buffer, Multiply multiply) {
  const std::size_t strip = std::size_t{kStripRows} * depth + 16;  // not a multiple of a page: the strips are written side by side
  const unsigned full = rows / kStripRows, rest = rows % kStripRows;
  for (unsigned c = 0; c < depth; ++c) {
    float line[kTurnedRows];
    const float* from = line;
    if (a.half)
      copy(a, at(a, i, l + c), line, rows);
    else
      from = reinterpret_cast<const float*>(at(a, i, l + c));
    if (c + kRowsAhead < depth) ask_for(at(a, i, l + c + kRowsAhead), rows * (a.half ? 2 : 4));
    float* to = buffer + std::size_t{c} * kStripRows;
    for (unsigned s = 0; s < full; ++s, from += kStripRows, to += strip) std::memcpy(to, from, kStripRows * sizeof(float));
    if (rest > 0) std::memcpy(buffer + full * strip + std::size_t{c} * rest, from, rest * sizeof(float));
  }
  for (unsigned s = 0; s < full; ++s) multiply(s * kStripRows, kStripRows, buffer + s * strip);
  if (rest > 0) multiply(full * kStripRows, rest, buffer + full * strip);
}

// C's rows [i, i + rows), from row i of A and the panels.
void multiply_rows(const PandoMatrix& a, std::size_t i, std::size_t l, unsigned rows, unsigned columns, unsigned depth, float* buffer,
                   const float* panels, float* c, std::size_t ldc, bool accumulate) {
  const auto multiply = [&](const float* data, std::size_t row) {
    multiply_panels(rows, columns, depth, data, row, 1, panels, c, ldc, accumulate);
  };
  if (is_read_in_place(a)) return multiply(reinterpret_cast<const float*>(at(a, i, l)), a.row);
  if (a.column == 1) {
    pack(a, i, l, rows, depth, buffer);
    return multiply(buffer, depth);
  }
  for_each_strip(a, i, l, rows, depth, buffer, [&](unsigned first, unsigned height, const float* strip) {
    multiply_panels(height, columns, depth, strip, 1, height, panels, c + first * ldc, ldc, accumulate);
  });
}

// `size` in as few parts as are at most `most`, of about the same size, a multiple of `grain`.
unsigned part_of(unsigned size, unsigned most, unsigned grain) {
  const unsigned parts = (size + most - 1) / most, part = (size + parts - 1) / parts;
  return (part + grain - 1) / grain * grain;
}

// B is read once: as it lies.
void multiply_one_row(unsigned n, unsigned k, const PandoMatrix& a, const PandoMatrix& b, float* c, float scale, bool accumulate) {
  float row[kRowDepth];
  for (unsigned l = 0; l < k; l += kRowDepth) {
    const unsigned depth = std::min(kRowDepth, k - l);
    pack(a, 0, l, 1, depth, row);
    multiply_all(row, depth, scale);
    for (unsigned j = 0; j < n; j += kRowColumns)
      multiply_row(std::min(kRowColumns, n - j), depth, row, reinterpret_cast<const float*>(at(b, l, j)), b.row, c + j,
                   accumulate || l > 0);
  }
}

void multiply_few_rows(unsigned m, unsigned n, unsigned k, const PandoMatrix& a, const PandoMatrix& b, float* c, std::size_t ldc,
                       float scale, bool accumulate) {
  float rows[kFewRows * kFewDepth];
  for (unsigned l = 0; l < k; l += kFewDepth) {
    const unsigned depth = std::min(kFewDepth, k - l);
    pack(a, 0, l, m, depth, rows);
    multiply_all(rows, std::size_t{m} * depth, scale);
    for (unsigned j = 0; j < n; j += kFewColumns)
      pando_gemm_f32(m, std::min(kFewColumns, n - j), depth, rows, depth, reinterpret_cast<const float*>(at(b, l, j)),
                     static_cast<unsigned>(b.row), c + j, static_cast<unsigned>(ldc), accumulate || l > 0);
  }
}

// A few columns of a product whose A lies turned: its transpose, in which rows of A's memory are vectors of the result.
void multiply_few_columns(unsigned m, unsigned n, unsigned k, const PandoMatrix& a, const PandoMatrix& b, float* c, std::size_t ldc,
                          float scale, bool accumulate) {
  alignas(64) float turned[kTurnedColumns * kTurnedSums];
  const PandoMatrix left{b.data, b.column, b.row, b.half};
  for (unsigned i = 0; i < m; i += kTurnedSums) {
    const unsigned rows = std::min(kTurnedSums, m - i);
    float* const from = c + i * ldc;
    if (accumulate) transpose(from, ldc, rows, n, turned, rows);
    pando_gemm_packed(n, rows, k, left, {at(a, i, 0), a.column, a.row, a.half}, turned, rows, scale, accumulate);
    transpose(turned, rows, n, rows, from, ldc);
  }
}

}  // namespace
}  // namespace pando::kernels

void pando_gemm_packed(unsigned m, unsigned n, unsigned k, PandoMatrix a, PandoMatrix b, float* c, std::size_t ldc, float scale,
                       bool accumulate, const PandoEpilogue* epilogue) {
  using namespace pando::kernels;
  if (m <= kFewRows && is_read_in_place(b)) {
    if (m == 1)
      multiply_one_row(n, k, a, b, c, scale, accumulate);
    else
      multiply_few_rows(m, n, k, a, b, c, ldc, scale, accumulate);
    if (epilogue != nullptr) pando_finish(epilogue, 0, m, 0, n);
    return;
  }
  if (n <= kTurnedColumns && m >= 2 * kTurnedColumns && a.column != 1 && a.row == 1 && k > 1) {
    multiply_few_columns(m, n, k, a, b, c, ldc, scale, accumulate);
    if (epilogue != nullptr) pando_finish(epilogue, 0, m, 0, n);
    return;
  }
  alignas(64) float panels[kPanels];
  alignas(64) float rows_of_a[std::max(kRows * kDepth, kTurnedRows * (kTurnedDepth + 4))];
  const bool turned = a.column != 1;
  const unsigned most_rows = turned ? kTurnedRows : kRows, most_depth = part_of(k, turned ? kTurnedDepth : kDepth, 4);
  const unsigned most_columns = part_of(n, static_cast<unsigned>(kPanels / most_depth) / kWide * kWide, kWide);
  for (unsigned j = 0; j < n; j += most_columns) {
    const unsigned columns = std::min(most_columns, n - j);
    for (unsigned l = 0; l < k; l += most_depth) {
      const unsigned depth = std::min(most_depth, k - l);
      pack_panels(b, l, j, depth, columns, panels);
      multiply_all(panels, std::size_t{columns} * depth, scale);
      for (unsigned i = 0; i < m; i += most_rows) {
        const unsigned rows = std::min(most_rows, m - i);
        multiply_rows(a, i, l, rows, columns, depth, rows_of_a, panels, c + i * ldc + j, ldc, accumulate || l > 0);
        if (epilogue != nullptr && l + depth == k) pando_finish(epilogue, i, rows, j, columns);
      }
    }
  }
}
