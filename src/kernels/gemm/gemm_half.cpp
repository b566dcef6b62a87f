// Products of halfs: chunks of the operands become floats in buffers that fit the caches, and are multiplied as floats.
#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/half_vectors.h"

namespace pando::kernels {
namespace {

constexpr unsigned kRows = 128, kColumns = 64, kDepth = 256, kRowsAtOnce = 32;

const void* half_at(const void* base, std::size_t index) { return static_cast<const std::uint16_t*>(base) + index; }

// C[m x n] (+)= A * B for m <= kRows, n <= kColumns, into floats.
void multiply(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, float* c, unsigned ldc,
              bool accumulate) {
  alignas(64) float wide_a[kRowsAtOnce * kDepth];
  alignas(64) float wide_b[kDepth * kColumns];
  for (unsigned at = 0; at < k; at += kDepth) {
    const unsigned depth = std::min(kDepth, k - at);
    for (unsigned l = 0; l < depth; ++l) widen(half_at(b, std::size_t{at + l} * ldb), wide_b + l * n, n);
    for (unsigned row = 0; row < m; row += kRowsAtOnce) {
      const unsigned rows = std::min(kRowsAtOnce, m - row);
      for (unsigned i = 0; i < rows; ++i) widen(half_at(a, std::size_t{row + i} * lda + at), wide_a + i * depth, depth);
      pando_gemm_f32(rows, n, depth, wide_a, depth, wide_b, n, c + std::size_t{row} * ldc, ldc, accumulate || at > 0);
    }
  }
}

template <class Visit>  // visit(row, rows, column, columns)
void for_each_chunk(unsigned m, unsigned n, Visit visit) {
  for (unsigned j = 0; j < n; j += kColumns)
    for (unsigned i = 0; i < m; i += kRows) visit(i, std::min(kRows, m - i), j, std::min(kColumns, n - j));
}

}  // namespace
}  // namespace pando::kernels

void pando_gemm_f16_f32(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, float* c,
                        unsigned ldc, bool accumulate) {
  using namespace pando::kernels;
  for_each_chunk(m, n, [&](unsigned i, unsigned rows, unsigned j, unsigned columns) {
    multiply(rows, columns, k, half_at(a, std::size_t{i} * lda), lda, half_at(b, j), ldb, c + std::size_t{i} * ldc + j, ldc, accumulate);
  });
}

void pando_gemm_f16_f16(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, void* c, unsigned ldc,
                        bool accumulate) {
  using namespace pando::kernels;
  alignas(64) float sums[kRows * kColumns];
  for_each_chunk(m, n, [&](unsigned i, unsigned rows, unsigned j, unsigned columns) {
    std::uint16_t* const to = static_cast<std::uint16_t*>(c) + std::size_t{i} * ldc + j;
    for (unsigned r = 0; accumulate && r < rows; ++r) widen(to + std::size_t{r} * ldc, sums + r * columns, columns);
    multiply(rows, columns, k, half_at(a, std::size_t{i} * lda), lda, half_at(b, j), ldb, sums, columns, accumulate);
    for (unsigned r = 0; r < rows; ++r) narrow(sums + r * columns, to + std::size_t{r} * ldc, columns);
  });
}
