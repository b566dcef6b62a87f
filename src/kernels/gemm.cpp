#include "kernels/gemm.h"

#include <libxsmm.h>

#include <array>

namespace {

struct Shape {
  unsigned m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  bool turned = false, accumulate = false;  // turned: A lies transposed
  bool operator==(const Shape&) const = default;
};

// Code for a product; null where libxsmm has none. It is column-major: the product of the transposes.
libxsmm_smmfunction make_code(const Shape& s) {
  const auto rows = static_cast<libxsmm_blasint>(s.n), columns = static_cast<libxsmm_blasint>(s.m), depth = static_cast<libxsmm_blasint>(s.k);
  const auto first = static_cast<libxsmm_blasint>(s.ldb), second = static_cast<libxsmm_blasint>(s.lda), to = static_cast<libxsmm_blasint>(s.ldc);
  const float alpha = 1, beta = s.accumulate ? 1 : 0;
  const int flags = s.turned ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  return libxsmm_smmdispatch(rows, columns, depth, &first, &second, &to, &alpha, &beta, &flags, nullptr);
}

// A thread keeps what it used last: looking code up takes as long as a small product.
libxsmm_smmfunction code_for(const Shape& s) {
  struct Known {
    Shape shape;
    libxsmm_smmfunction code = nullptr;
  };
  thread_local std::array<Known, 8> last;
  Known& known = last[(s.k / 8 + s.m / 8 + (s.accumulate ? 1u : 0u)) % last.size()];
  if (!(known.shape == s) || known.code == nullptr) known = {s, make_code(s)};
  return known.code;
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
  const libxsmm_smmfunction f = code_for({m, n, k, lda, ldb, ldc, false, accumulate});
  if (f != nullptr) return f(b, a, c);
  multiply_plainly(m, n, k, a, lda, 1, b, ldb, c, ldc, accumulate);
}

void pando_gemm_turned_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                           unsigned ldc, bool accumulate) {
  const libxsmm_smmfunction f = code_for({m, n, k, lda, ldb, ldc, true, accumulate});
  if (f != nullptr) return f(b, a, c);
  multiply_plainly(m, n, k, a, 1, lda, b, ldb, c, ldc, accumulate);
}
