// Matrix products on blocks.
#pragma once

#include "kernels/kernel.h"

// C[m x n] (+)= A[m x k] * B[k x n], all row-major with row strides lda, ldb, ldc in elements. With `accumulate` false C is written.
PANDO_KERNEL void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb,
                                 float* c, unsigned ldc, bool accumulate);
