// Matrix products on blocks. All matrices are row-major with row strides lda, ldb, ldc in elements.
#pragma once

#include <cstddef>

#include "kernels/kernel.h"

// C[m x n] (+)= A[m x k] * B[k x n]. With `accumulate` false C is written. For blocks that fit the caches.
PANDO_KERNEL void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb,
                                 float* c, unsigned ldc, bool accumulate);

// The same for IEEE halfs, multiplied and added up in float; with halfs for C the sum is rounded once, at the end.
PANDO_KERNEL void pando_gemm_f16_f32(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb,
                                     float* c, unsigned ldc, bool accumulate);
PANDO_KERNEL void pando_gemm_f16_f16(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb,
                                     void* c, unsigned ldc, bool accumulate);

// An operand of any size as it lies: element (i, j) at data[i * row + j * column]. One of the strides is 1.
struct PandoMatrix {
  const void* data;
  std::size_t row, column;
  bool half;  // IEEE halfs; else floats
};

// C[m x n] = A[m x k] * B[k x n] for matrices of any size: blocks of them are packed into buffers that fit the caches.
PANDO_KERNEL void pando_gemm_packed(unsigned m, unsigned n, unsigned k, PandoMatrix a, PandoMatrix b, float* c, std::size_t ldc);
