// A row times a matrix: every element of the matrix is used once, so its rows are read as they follow each other in memory.
#pragma once

#include <cstddef>

namespace pando::kernels {

// C[n] (+)= A[k] * B[k x n], B's rows `ldb` elements apart. Each sum is taken in the order of k.
void multiply_row(unsigned n, unsigned k, const float* a, const float* b, std::size_t ldb, float* c, bool accumulate);

}  // namespace pando::kernels
