#include "kernels/gemm.h"

#include <libxsmm.h>

void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                    unsigned ldc, bool accumulate) {
  // libxsmm is column-major: the product of the transposes.
  const libxsmm_blasint rows = static_cast<libxsmm_blasint>(n), columns = static_cast<libxsmm_blasint>(m), depth = static_cast<libxsmm_blasint>(k);
  const libxsmm_blasint first = static_cast<libxsmm_blasint>(ldb), second = static_cast<libxsmm_blasint>(lda), to = static_cast<libxsmm_blasint>(ldc);
  const float alpha = 1, beta = accumulate ? 1 : 0;
  const libxsmm_smmfunction f = libxsmm_smmdispatch(rows, columns, depth, &first, &second, &to, &alpha, &beta, nullptr, nullptr);
  if (f != nullptr) return f(b, a, c);
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      float sum = accumulate ? c[i * ldc + j] : 0;
      for (unsigned l = 0; l < k; ++l) sum += a[i * lda + l] * b[l * ldb + j];
      c[i * ldc + j] = sum;
    }
}
