#include "kernels/gemm.h"

#include <libxsmm.h>

namespace {

struct Strides {
  unsigned a, b, c;
};

// Code for a product; null where libxsmm has none. It is column-major: the product of the transposes.
libxsmm_smmfunction code_for(unsigned m, unsigned n, unsigned k, const Strides& s, bool turned, bool accumulate) {
  const auto rows = static_cast<libxsmm_blasint>(n), columns = static_cast<libxsmm_blasint>(m), depth = static_cast<libxsmm_blasint>(k);
  const auto first = static_cast<libxsmm_blasint>(s.b), second = static_cast<libxsmm_blasint>(s.a), to = static_cast<libxsmm_blasint>(s.c);
  const float alpha = 1, beta = accumulate ? 1 : 0;
  const int flags = turned ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  return libxsmm_smmdispatch(rows, columns, depth, &first, &second, &to, &alpha, &beta, &flags, nullptr);
}

// Element (i, l) of A at a[i * row + l * column].
void multiply_plainly(unsigned m, unsigned n, unsigned k, const float* a, std::size_t row, std::size_t column, const float* b, unsigned ldb, float* c,
                      unsigned ldc, bool accumulate) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      float sum = accumulate ? c[i * ldc + j] : 0;
      for (unsigned l = 0; l < k; ++l) sum += a[i * row + l * column] * b[l * ldb + j];
      c[i * ldc + j] = sum;
    }
}

}  // namespace

void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                    unsigned ldc, bool accumulate) {
  const libxsmm_smmfunction f = code_for(m, n, k, {lda, ldb, ldc}, false, accumulate);
  if (f != nullptr) return f(b, a, c);
  multiply_plainly(m, n, k, a, lda, 1, b, ldb, c, ldc, accumulate);
}

void pando_gemm_turned_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                           unsigned ldc, bool accumulate) {
  const libxsmm_smmfunction f = code_for(m, n, k, {lda, ldb, ldc}, true, accumulate);
  if (f != nullptr) return f(b, a, c);
  multiply_plainly(m, n, k, a, 1, lda, b, ldb, c, ldc, accumulate);
}
