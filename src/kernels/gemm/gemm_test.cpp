#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - modulus / 2);
  return out;
}

TEST(Gemm, MultipliesAnyNumberOfRowsByWholeVectors) {
  const unsigned k = 11;
  for (const unsigned n : {64u, 128u, 150u})
    for (unsigned m = 1; m < 20; ++m)
      for (const bool turned : {false, true})
        for (const bool accumulate : {false, true}) {
          const unsigned lda = (turned ? m : k) + 3, ldb = n + 5, ldc = n + 2;
          const std::vector<float> a = small_integers(std::size_t{turned ? k : m} * lda, 9), b = small_integers(std::size_t{k} * ldb, 7);
          std::vector<float> c = small_integers(std::size_t{m} * ldc, 5), expected = c;
          for (unsigned i = 0; i < m; ++i)
            for (unsigned j = 0; j < n; ++j) {
              float& sum = expected[i * ldc + j];
              if (!accumulate) sum = 0;
              for (unsigned l = 0; l < k; ++l) sum += a[turned ? l * lda + i : i * lda + l] * b[l * ldb + j];
            }
          (turned ? pando_gemm_turned_f32 : pando_gemm_f32)(m, n, k, a.data(), lda, b.data(), ldb, c.data(), ldc, accumulate);
          EXPECT_EQ(c, expected) << m << ',' << n << (turned ? " turned" : "") << (accumulate ? " accumulates" : "");
        }
}

TEST(Gemm, SumsOfNothingAreZero) {
  for (const unsigned m : {1u, 3u})
    for (const bool turned : {false, true}) {
      const std::vector<float> none(64);
      std::vector<float> c(m * 10, 7);
      (turned ? pando_gemm_turned_f32 : pando_gemm_f32)(m, 10, 0, none.data(), 4, none.data(), 10, c.data(), 10, false);
      EXPECT_EQ(c, std::vector<float>(m * 10, 0));
    }
}

// As windows of an image do.
TEST(Gemm, MultipliesRowsThatOverlap) {
  const unsigned m = 9;
  for (const unsigned lda : {1u, 4u, 6u})
    for (const unsigned n : {1u, 10u, 32u, 64u, 96u})
      for (const unsigned k : {1u, 6u, 13u})
        for (const bool accumulate : {false, true}) {
          const std::vector<float> a = small_integers(std::size_t{m} * lda + k, 9), b = small_integers(std::size_t{k} * n, 7);
          std::vector<float> c = small_integers(std::size_t{m} * n, 5), expected = c;
          for (unsigned i = 0; i < m; ++i)
            for (unsigned j = 0; j < n; ++j) {
              float& sum = expected[i * n + j];
              if (!accumulate) sum = 0;
              for (unsigned l = 0; l < k; ++l) sum += a[i * lda + l] * b[l * n + j];
            }
          pando_gemm_f32(m, n, k, a.data(), lda, b.data(), n, c.data(), n, accumulate);
          EXPECT_EQ(c, expected) << lda << ',' << n << ',' << k << (accumulate ? " accumulates" : "");
        }
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
  for (const Dims& d : {Dims{1, 1, 1}, Dims{1, 4099, 30}, Dims{1, 37, 2071}, Dims{1, 10, 1024}, Dims{1, 15, 33}, Dims{1, 16, 7},
                        Dims{1, 31, 5}, Dims{3, 600, 300}, Dims{8, 65, 257}, Dims{9, 1, 300}, Dims{70, 530, 20}, Dims{65, 64, 513},
                        Dims{13, 130, 1030}, Dims{200, 448, 520}, Dims{700, 10, 130}, Dims{600, 1, 20}, Dims{80, 32, 300}})
    for (const bool half_a : {false, true})
      for (const bool half_b : {false, true})
        for (const bool columns_a : {false, true})
          for (const bool columns_b : {false, true}) {
            const std::vector<float> a = small_integers(std::size_t{d.m} * d.k, 5), b = small_integers(std::size_t{d.k} * d.n, 3);
            const std::vector<_Float16> narrow_a = halfs_of(a), narrow_b = halfs_of(b);
            const PandoMatrix x{half_a ? static_cast<const void*>(narrow_a.data()) : a.data(), columns_a ? 1 : d.k, columns_a ? d.m : 1,
                                half_a};
            const PandoMatrix y{half_b ? static_cast<const void*>(narrow_b.data()) : b.data(), columns_b ? 1 : d.n, columns_b ? d.k : 1,
                                half_b};
            const std::size_t ldc = d.n + 3;
            std::vector<float> c(d.m * ldc, -1), expected = c;
            for (unsigned i = 0; i < d.m; ++i)
              for (unsigned j = 0; j < d.n; ++j) {
                float sum = 0;
                for (unsigned l = 0; l < d.k; ++l) sum += a[i * x.row + l * x.column] * b[l * y.row + j * y.column];
                expected[i * ldc + j] = sum;
              }
            pando_gemm_packed(d.m, d.n, d.k, x, y, c.data(), ldc, 1, false);
            EXPECT_EQ(c, expected);
            pando_gemm_packed(d.m, d.n, d.k, x, y, c.data(), ldc, -0.5f, true);
            for (std::size_t i = 0; i < c.size(); ++i)
              if (i % ldc < d.n) expected[i] *= 0.5f;
            EXPECT_EQ(c, expected) << d.m << ' ' << d.n << ' ' << d.k << ' ' << half_a << half_b << columns_a << columns_b;
          }
}

// A matrix cut into pieces of `rows` rows or `columns` columns, as floats or halfs; and back.
class Pieces {
 public:
  Pieces(const std::vector<float>& matrix, unsigned height, unsigned width, unsigned rows, unsigned columns, bool half)
      : height_(height), width_(width), rows_(rows), columns_(columns), half_(half), halfs_(matrix.size()), floats_(matrix.size()) {
    std::size_t to = 0;
    each([&](std::size_t from, bool begins) {
      if (begins) list_.push_back({half ? static_cast<void*>(&halfs_[to]) : &floats_[to], 0});
      ++list_.back().count;
      halfs_[to] = static_cast<_Float16>(matrix[from]);
      floats_[to++] = matrix[from];
    });
  }
  const PandoPiece* data() const { return list_.data(); }
  unsigned size() const { return static_cast<unsigned>(list_.size()); }
  std::vector<float> matrix() const {
    std::vector<float> out(floats_.size());
    std::size_t at = 0;
    each([&](std::size_t to, bool) { out[to] = half_ ? static_cast<float>(halfs_[at]) : floats_[at], ++at; });
    return out;
  }

 private:
  template <class Visit>
  void each(Visit visit) const {
    for (unsigned i = 0; i < height_; i += rows_)
      for (unsigned j = 0; j < width_; j += columns_)
        for (unsigned r = i; r < std::min(height_, i + rows_); ++r)
          for (unsigned c = j; c < std::min(width_, j + columns_); ++c) visit(std::size_t{r} * width_ + c, r == i && c == j);
  }
  unsigned height_, width_, rows_, columns_;
  bool half_;
  std::vector<_Float16> halfs_;
  std::vector<float> floats_;
  std::vector<PandoPiece> list_;
};

TEST(Gemm, MultipliesTransposedMatricesInPieces) {
  struct Dims {
    unsigned m, n, k;
  };
  for (const Dims& d : {Dims{1, 1, 1}, Dims{37, 20, 50}, Dims{5, 70, 33}, Dims{64, 16, 700}})
    for (const bool half_operands : {false, true})
      for (const bool half_result : {false, true})
        for (const unsigned cut : {1u, 3u}) {
          const std::vector<float> x = small_integers(d.m * d.k, 5), w = small_integers(d.k * d.n, 3), y = small_integers(d.m * d.n, 5);
          const auto part = [&](unsigned extent) { return (extent + cut - 1) / cut; };
          const Pieces in_x(x, d.m, d.k, part(d.m), d.k, half_operands), in_w(w, d.k, d.n, d.k, part(d.n), half_operands);
          const Pieces in_y(y, d.m, d.n, part(d.m), d.n, half_operands);
          std::vector<float> backward(x.size()), update(w.size());
          for (unsigned i = 0; i < d.m; ++i)
            for (unsigned l = 0; l < d.k; ++l)
              for (unsigned j = 0; j < d.n; ++j) {
                backward[i * d.k + l] += y[i * d.n + j] * w[l * d.n + j];
                update[l * d.n + j] += x[i * d.k + l] * y[i * d.n + j];
              }
          Pieces out_x(std::vector<float>(x.size(), 9), d.m, d.k, part(d.m), d.k, half_result);
          pando_gemm_backward(d.n, d.k, in_y.data(), in_y.size(), in_w.data(), in_w.size(), out_x.data(), out_x.size(), half_operands,
                              half_result);
          EXPECT_EQ(out_x.matrix(), backward);
          Pieces out_w(std::vector<float>(w.size(), 9), d.k, d.n, d.k, part(d.n), half_result);
          pando_gemm_update(d.m, d.n, d.k, in_x.data(), in_x.size(), in_y.data(), in_y.size(), out_w.data(), out_w.size(), 1, false,
                            half_operands, half_result);
          EXPECT_EQ(out_w.matrix(), update);
          pando_gemm_update(d.m, d.n, d.k, in_x.data(), in_x.size(), in_y.data(), in_y.size(), out_w.data(), out_w.size(), -2, true,
                            half_operands, half_result);
          for (float& f : update) f = -f;
          EXPECT_EQ(out_w.matrix(), update);
        }
}

}  // namespace
