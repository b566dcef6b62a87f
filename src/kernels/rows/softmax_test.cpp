#include "kernels/rows/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/elementwise/nonlinearity.h"

namespace {

using pando::kernels::Activation;
using pando::kernels::SoftmaxSummary;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 7919) % 1000) / 100 - 5;
  return out;
}

// Every length up to several vectors: whole vectors, pairs of them, and what is left.
TEST(SoftmaxKernels, EveryLength) {
  for (std::size_t n = 1; n < 80; ++n) {
    const std::vector<float> x = numbers(n);
    std::vector<float> y(n), z(n);
    pando_softmax_rows_f32(1, n, x.data(), y.data(), 1, false);
    double sum = 0;
    for (const float v : x) sum += std::exp(static_cast<double>(v));
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], std::exp(static_cast<double>(x[i])) / sum, 1e-6) << n;
    // In pieces.
    const std::size_t half = n / 2;
    SoftmaxSummary parts[2], row;
    pando_softmax_summary_f32(n - half, x.data() + half, &parts[0]);
    if (half > 0) pando_softmax_summary_f32(half, x.data(), &parts[1]);
    pando_softmax_merge(half > 0 ? 2 : 1, parts, &row);
    pando_softmax_finish_f32(n, x.data(), &row, z.data(), 1, false);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(z[i], y[i], 1e-6) << n;
    EXPECT_NEAR(pando_dot_f32(n, y.data(), y.data()), std::inner_product(y.begin(), y.end(), y.begin(), 0.0), 1e-6);
  }
}

TEST(SoftmaxKernels, APieceOfMinusInfinityAddsNothing) {
  const float infinity = std::numeric_limits<float>::infinity(), none[3] = {-infinity, -infinity, -infinity}, some[2] = {1, 1};
  SoftmaxSummary parts[2], row;
  pando_softmax_summary_f32(3, none, &parts[0]);
  pando_softmax_summary_f32(2, some, &parts[1]);
  pando_softmax_merge(2, parts, &row);
  EXPECT_EQ(row.max, 1);
  EXPECT_EQ(row.sum, 2);
}

TEST(ActivationKernels, TailsAreLikeWholes) {
  for (unsigned f = 0; f < static_cast<unsigned>(Activation::count); ++f)
    for (std::size_t n = 1; n < 40; ++n) {
      const std::vector<float> x = numbers(n);
      std::vector<float> y(n), gradient(n);
      pando_activation_f32(static_cast<Activation>(f), n, x.data(), y.data());
      pando_activation_gradient_f32(static_cast<Activation>(f), n, x.data(), y.data(), gradient.data());
      for (std::size_t i = 0; i < n; ++i) {
        float one = 0, slope = 0;
        pando_activation_f32(static_cast<Activation>(f), 1, &x[i], &one);
        pando_activation_gradient_f32(static_cast<Activation>(f), 1, &x[i], &y[i], &slope);
        EXPECT_EQ(y[i], one);
        EXPECT_EQ(gradient[i], slope);
      }
    }
}

}  // namespace
