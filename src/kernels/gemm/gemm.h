// Matrix products on blocks. All matrices are row-major with row strides lda, ldb, ldc in elements.
#pragma once

#include <cstddef>

#include "kernels/elementwise/elementwise_matrix.h"
#include "kernels/kernel.h"

// C[m x n] (+)= A[m x k] * B[k x n]. With `accumulate` false C is written. For blocks that fit the caches.
PANDO_KERNEL void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                                 unsigned ldc, bool accumulate);

// The same where A is transposed: a[l * lda + i] is its element (i, l).
PANDO_KERNEL void pando_gemm_turned_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb,
                                        float* c, unsigned ldc, bool accumulate);

// The same for IEEE halfs, multiplied and added up in float; with halfs for C the sum is rounded once, at the end.
PANDO_KERNEL void pando_gemm_f16_f32(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, float* c,
                                     unsigned ldc, bool accumulate);
PANDO_KERNEL void pando_gemm_f16_f16(unsigned m, unsigned n, unsigned k, const void* a, unsigned lda, const void* b, unsigned ldb, void* c,
                                     unsigned ldc, bool accumulate);

// An operand of any size as it lies: element (i, j) at data[i * row + j * column]. One of the strides is 1.
struct PandoMatrix {
  const void* data;
  std::size_t row, column;
  bool half;  // IEEE halfs; else floats
};

// C[m x n] (+)= scale * A[m x k] * B[k x n] for matrices of any size: blocks of them are packed into buffers that fit the caches. An
// epilogue, whose first result is C, is computed on each part of C as soon as its sums are complete.
PANDO_KERNEL void pando_gemm_packed(unsigned m, unsigned n, unsigned k, PandoMatrix a, PandoMatrix b, float* c, std::size_t ldc,
                                    float scale, bool accumulate, const PandoEpilogue* epilogue = nullptr);

// A matrix in pieces: floats or IEEE halfs, row-major, one after the other.
struct PandoPiece {
  void* data;
  std::size_t count;  // elements
};

// X[m x k] = Y[m x n] * transpose(W[k x n]). Y and X come in pieces of whole rows, W in pieces of whole columns.
PANDO_KERNEL void pando_gemm_backward(unsigned n, unsigned k, const PandoPiece* y, unsigned y_pieces, const PandoPiece* w,
                                      unsigned w_pieces, const PandoPiece* x, unsigned x_pieces, bool half_operands, bool half_result);

// W[k x n] (+)= scale * transpose(X[m x k]) * Y[m x n]. X and Y come in pieces of whole rows, W in pieces of whole columns.
PANDO_KERNEL void pando_gemm_update(unsigned m, unsigned n, unsigned k, const PandoPiece* x, unsigned x_pieces, const PandoPiece* y,
                                    unsigned y_pieces, const PandoPiece* w, unsigned w_pieces, float scale, bool accumulate,
                                    bool half_operands, bool half_result);
