#include "kernels/rows/norm_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

std::vector<float> waves(std::size_t n, double step) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(std::sin(step * static_cast<double>(i)) * 3 + 0.5);
  return out;
}

struct Norm {
  std::size_t rows, n;
  std::vector<float> x = waves(rows * n, 0.71), dy = waves(rows * n, 0.37), gamma = waves(n, 0.91), beta = waves(n, 0.53);
  double mean(std::size_t r) const {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[r * n + i];
    return sum / static_cast<double>(n);
  }
  double inverse(std::size_t r) const {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += (x[r * n + i] - mean(r)) * (x[r * n + i] - mean(r));
    return 1 / std::sqrt(sum / static_cast<double>(n) + 0.25);
  }
};

TEST(NormRows, NormalisesEachRow) {
  for (const std::size_t n : {1ul, 5ul, 16ul, 67ul, 300ul}) {
    const Norm c{4, n};
    std::vector<float> y(c.x.size()), mean(c.rows), inverse(c.rows);
    pando_norm_rows_f32(c.rows, n, c.x.data(), c.gamma.data(), c.beta.data(), 0.25f, y.data(), mean.data(), inverse.data());
    for (std::size_t r = 0; r < c.rows; ++r) {
      EXPECT_NEAR(mean[r], c.mean(r), 1e-5);
      EXPECT_NEAR(inverse[r], c.inverse(r), 1e-5);
      for (std::size_t i = 0; i < n; ++i) {
        const double h = (c.x[r * n + i] - c.mean(r)) * c.inverse(r);
        EXPECT_NEAR(y[r * n + i], h * c.gamma[i] + c.beta[i], 1e-4) << n << ": " << r << ',' << i;
      }
    }
  }
}

TEST(NormRows, GivesAllThreeGradients) {
  for (const std::size_t n : {1ul, 5ul, 16ul, 67ul, 300ul}) {
    const Norm c{4, n};
    std::vector<float> dx(c.x.size()), dgamma(n), dbeta(n), mean(c.rows), inverse(c.rows);
    for (std::size_t r = 0; r < c.rows; ++r) mean[r] = static_cast<float>(c.mean(r)), inverse[r] = static_cast<float>(c.inverse(r));
    pando_norm_rows_gradient_f32(c.rows, n, c.x.data(), c.dy.data(), c.gamma.data(), mean.data(), inverse.data(), dx.data(), dgamma.data(),
                                 dbeta.data());
    std::vector<double> of_gamma(n), of_beta(n);
    for (std::size_t r = 0; r < c.rows; ++r) {
      const auto h = [&](std::size_t i) { return (c.x[r * n + i] - c.mean(r)) * c.inverse(r); };
      const auto g = [&](std::size_t i) { return static_cast<double>(c.dy[r * n + i]) * c.gamma[i]; };
      double g_mean = 0, gh_mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        g_mean += g(i) / static_cast<double>(n);
        gh_mean += g(i) * h(i) / static_cast<double>(n);
        of_gamma[i] += c.dy[r * n + i] * h(i);
        of_beta[i] += c.dy[r * n + i];
      }
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(dx[r * n + i], (g(i) - g_mean - h(i) * gh_mean) * c.inverse(r), 2e-4) << n << ": " << r << ',' << i;
    }
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(dgamma[i], of_gamma[i], 1e-4);
      EXPECT_NEAR(dbeta[i], of_beta[i], 1e-4);
    }
  }
}

}  // namespace
