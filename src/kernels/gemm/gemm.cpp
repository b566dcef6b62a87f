#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <array>

#include "kernels/gemm/gemm_wide.h"
#include "kernels/small_products.h"

namespace {

struct Shape {
  unsigned m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  bool turned = false, accumulate = false;  // turned: A lies transposed
  bool operator==(const Shape&) const = default;
};

// Code for a product; null where there is none. It is column-major: the product of the transposes.
pando::kernels::SmallProduct make_code(const Shape& s) {
  return pando::kernels::small_product({static_cast<int>(s.n), static_cast<int>(s.m), static_cast<int>(s.k), static_cast<int>(s.ldb),
                                        static_cast<int>(s.lda), static_cast<int>(s.ldc), s.turned, s.accumulate});
}

// A thread keeps what it used last: looking code up takes as long as a small product.
pando::kernels::SmallProduct code_for(const Shape& s) {
  struct Known {
    Shape shape;
    pando::kernels::SmallProduct code = nullptr;
  };
  thread_local std::array<Known, 8> last;
  Known& known = last[(s.k / 8 + s.m / 8 + (s.accumulate ? 1u : 0u)) % last.size()];
  if (!(known.shape == s) || known.code == nullptr) known = {s, make_code(s)};
  return known.code;
}

// Element (i, l) of A at a[i * row + l * column].
void multiply_plainly(const Shape& s, const float* a, std::size_t row, std::size_t column, const float* b, float* c) {
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned j = 0; j < s.n; ++j) {
      float sum = s.accumulate ? c[i * s.ldc + j] : 0;
      for (unsigned l = 0; l < s.k; ++l) sum += a[i * row + l * column] * b[l * s.ldb + j];
      c[i * s.ldc + j] = sum;
    }
}

void multiply(Shape s, const float* a, const float* b, float* c) {
  // What is left of the columns is code of its own shape's.
  const unsigned wide = s.n - s.n % pando::kernels::kWide;
  const std::size_t row = s.turned ? 1 : s.lda, column = s.turned ? s.lda : 1;
  if (wide > 0 &&
      pando::kernels::multiply_wide({s.m, wide, s.k, a, row, column, b, s.ldb, pando::kernels::kWide, c, s.ldc, s.accumulate})) {
    b += wide;
    c += wide;
    s.n -= wide;
  }
  if (s.n == 0) return;
  // Rows of A that overlap, as windows of an image do, are no operand of such code: columns of A at a time that do not.
  const unsigned k = s.k, most = std::max(1u, s.turned || s.m == 1 ? k : s.lda);
  for (unsigned l = 0; l < k || l == 0; l += most, s.accumulate = true) {
    s.k = std::min(most, k - l);
    const pando::kernels::SmallProduct f = code_for(s);
    const float *const columns = a + l * column, *const rows = b + std::size_t{l} * s.ldb;
    if (f != nullptr)
      f(rows, columns, c);
    else
      multiply_plainly(s, columns, row, column, rows, c);
  }
}

}  // namespace

void pando_gemm_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c, unsigned ldc,
                    bool accumulate) {
  multiply({m, n, k, lda, ldb, ldc, false, accumulate}, a, b, c);
}

void pando_gemm_turned_f32(unsigned m, unsigned n, unsigned k, const float* a, unsigned lda, const float* b, unsigned ldb, float* c,
                           unsigned ldc, bool accumulate) {
  multiply({m, n, k, lda, ldb, ldc, true, accumulate}, a, b, c);
}
