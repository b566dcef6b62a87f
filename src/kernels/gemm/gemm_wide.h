// The inner loops of products: strips of a few rows and kWide columns whose sums stay in registers.
#pragma once

#include <cstddef>

namespace pando::kernels {

constexpr unsigned kWide = 64;

struct WideProduct {
  unsigned m, n, k;  // n: a multiple of kWide
  // Element (i, l) of A is a[i * row + l * column]. One of the strides is 1.
  const float* a;
  std::size_t row, column;
  // Element (l, j) of B is b[j / kWide * panel + l * ldb + j % kWide].
  const float* b;
  std::size_t ldb, panel;
  float* c;
  std::size_t ldc;
  bool accumulate;
  // A and B in parts along k, each of `k`: A's part s begins at a + s * part, B's parts follow each other.
  unsigned parts = 1;
  std::size_t part = 0;
};

// The rows of a matrix, `stride` elements apart, as panels of kWide columns: one after the other, in each the rows one after the other.
// `columns` is a multiple of kWide.
void copy_to_panels(const float* from, std::size_t stride, unsigned rows, unsigned columns, float* to);

// C[m x n] (+)= A[m x k] * B[k x n]. Each sum is taken in the order of k, whatever the sizes. False, and nothing done, where this host's
// vectors are shorter than a quarter of kWide: libxsmm is as fast there.
bool multiply_wide(const WideProduct& product);

}  // namespace pando::kernels
