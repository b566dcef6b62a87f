#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Gemm, MultipliesBlocksInsideLargerRows) {
  const unsigned m = 7, n = 5, k = 9, lda = 11, ldb = 8, ldc = 6;
  std::vector<float> a(m * lda), b(k * ldb), c(m * ldc, 1);
  for (unsigned i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
  for (unsigned i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) - 3;
  for (const bool accumulate : {false, true}) {
    const std::vector<float> before = c;
    pando_gemm_f32(m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, accumulate);
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < ldc; ++j) {
        float sum = j < n ? (accumulate ? before[i * ldc + j] : 0) : before[i * ldc + j];
        for (unsigned l = 0; l < k && j < n; ++l) sum += a[i * lda + l] * b[l * ldb + j];
        EXPECT_EQ(c[i * ldc + j], sum) << i << ',' << j;
      }
  }
}

}  // namespace
