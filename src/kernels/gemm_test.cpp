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

// Values that halfs and sums in float hold exactly.
std::vector<float> small_integers(std::size_t n, int modulus) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - modulus / 2);
  return out;
}

std::vector<_Float16> halfs_of(const std::vector<float>& x) { return {x.begin(), x.end()}; }

TEST(Gemm, MultipliesHalfs) {
  const unsigned m = 133, n = 70, k = 300, lda = 301, ldb = 72, ldc = 71;
  const std::vector<float> a = small_integers(m * lda, 5), b = small_integers(k * ldb, 3);
  const std::vector<_Float16> half_a = halfs_of(a), half_b = halfs_of(b);
  for (const bool accumulate : {false, true}) {
    std::vector<float> c(m * ldc, 3), expected = c;
    std::vector<_Float16> half_c = halfs_of(c);
    for (unsigned i = 0; i < m; ++i)
      for (unsigned j = 0; j < n; ++j) {
        float sum = accumulate ? 3 : 0;
        for (unsigned l = 0; l < k; ++l) sum += a[i * lda + l] * b[l * ldb + j];
        expected[i * ldc + j] = sum;
      }
    pando_gemm_f16_f32(m, n, k, half_a.data(), lda, half_b.data(), ldb, c.data(), ldc, accumulate);
    pando_gemm_f16_f16(m, n, k, half_a.data(), lda, half_b.data(), ldb, half_c.data(), ldc, accumulate);
    EXPECT_EQ(c, expected);
    EXPECT_EQ(std::vector<float>(half_c.begin(), half_c.end()), expected);
  }
}

TEST(Gemm, PacksMatricesOfAnySizeAndOrder) {
  struct Dims {
    unsigned m, n, k;
  };
  for (const Dims& d : {Dims{1, 1, 1}, Dims{3, 600, 300}, Dims{8, 65, 257}, Dims{9, 1, 300}, Dims{70, 530, 20}, Dims{65, 64, 513}})
    for (const bool half_a : {false, true})
      for (const bool half_b : {false, true})
        for (const bool columns_a : {false, true})
          for (const bool columns_b : {false, true}) {
            const std::vector<float> a = small_integers(std::size_t{d.m} * d.k, 5), b = small_integers(std::size_t{d.k} * d.n, 3);
            const std::vector<_Float16> narrow_a = halfs_of(a), narrow_b = halfs_of(b);
            const PandoMatrix x{half_a ? static_cast<const void*>(narrow_a.data()) : a.data(), columns_a ? 1 : d.k, columns_a ? d.m : 1, half_a};
            const PandoMatrix y{half_b ? static_cast<const void*>(narrow_b.data()) : b.data(), columns_b ? 1 : d.n, columns_b ? d.k : 1, half_b};
            const std::size_t ldc = d.n + 3;
            std::vector<float> c(d.m * ldc, -1), expected = c;
            for (unsigned i = 0; i < d.m; ++i)
              for (unsigned j = 0; j < d.n; ++j) {
                float sum = 0;
                for (unsigned l = 0; l < d.k; ++l) sum += a[i * x.row + l * x.column] * b[l * y.row + j * y.column];
                expected[i * ldc + j] = sum;
              }
            pando_gemm_packed(d.m, d.n, d.k, x, y, c.data(), ldc);
            EXPECT_EQ(c, expected) << d.m << ' ' << d.n << ' ' << d.k << ' ' << half_a << half_b << columns_a << columns_b;
          }
}

}  // namespace
