// Code for products of small matrices of floats, made for one shape while the program runs: libxsmm's where Pando is built with it. Without
// it there is none: callers take loops of their own.
#pragma once

namespace pando::kernels {

// C (rows x columns) = or += A (rows x depth) * B (depth x columns), or B transposed; column-major, elements from one column to the next:
// ld.
struct SmallShape {
  int rows = 0, columns = 0, depth = 0;
  int lda = 0, ldb = 0, ldc = 0;
  bool b_transposed = false, accumulate = false;
};

using SmallProduct = void (*)(const float* a, const float* b, float* c, ...);
// Null where there is no code for the shape.
SmallProduct small_product(const SmallShape& shape);

// The sum of `count` products, whose operands begin so many bytes after a and b.
using SmallProductByOffsets = void (*)(const float* a, const float* b, float* c, const unsigned long long* count,
                                       const unsigned long long* a_at, const unsigned long long* b_at, ...);
SmallProductByOffsets small_product_by_offsets(const SmallShape& shape);

}  // namespace pando::kernels
