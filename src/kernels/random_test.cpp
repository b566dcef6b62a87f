#include "kernels/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr PandoRandomStream kStream = {{0xa4093822u, 0x299f31d0u}, 7};

// Philox4x32-10 as its authors define it, one block.
void philox_block(const std::uint32_t counter[4], const std::uint32_t key[2], std::uint32_t out[4]) {
  std::uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]}, k[2] = {key[0], key[1]};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    const std::uint32_t next[4] = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
                                   static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
    for (int i = 0; i < 4; ++i) c[i] = next[i];
    k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u;
  }
  for (int i = 0; i < 4; ++i) out[i] = c[i];
}

TEST(Random, TheBlockHasThePublishedAnswers) {
  // Known answers published with the Random123 library.
  const std::uint32_t zero[4] = {}, ones[4] = {~0u, ~0u, ~0u, ~0u}, pi[4] = {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
  const std::uint32_t key_pi[2] = {0xa4093822, 0x299f31d0};
  std::uint32_t out[4];
  philox_block(zero, zero, out);
  EXPECT_EQ(out[0], 0x6627e8d5u);
  philox_block(ones, ones, out);
  EXPECT_EQ(out[0], 0x408f276du);
  philox_block(pi, key_pi, out);
  EXPECT_EQ(out[0], 0xd16cfe09u);
}

TEST(Random, BitsAreTheBlocksInAnyCut) {
  std::vector<std::uint32_t> all(3000);
  const std::uint64_t base = (std::uint64_t{1} << 34) - 1501;  // the counter's second word changes on the way
  pando_random_bits(kStream, base, all.size(), all.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t block = (base + i) / 4;
    const std::uint32_t counter[4] = {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), kStream.stream, 0};
    std::uint32_t expected[4];
    philox_block(counter, kStream.key, expected);
    ASSERT_EQ(all[i], expected[(base + i) % 4]) << i;
  }
}

template <class F>
void expect_same_in_any_cut(F make) {
  constexpr std::size_t n = 1733;
  std::vector<float> whole(n), cut(n);
  make(5, n, whole.data());
  for (std::size_t step : {1, 3, 64, 511, 512, 513, 1000}) {
    for (std::size_t at = 0; at < n; at += step) make(5 + at, std::min(step, n - at), cut.data() + at);
    ASSERT_EQ(whole, cut) << step;
  }
}

TEST(Random, NumbersDoNotDependOnTheCut) {
  expect_same_in_any_cut([](std::uint64_t first, std::uint64_t n, float* out) { pando_random_uniform(kStream, first, n, -1, 3, out); });
  expect_same_in_any_cut([](std::uint64_t first, std::uint64_t n, float* out) { pando_random_normal(kStream, first, n, 2, 0.5, out); });
  for (const float alpha : {0.1f, 1.0f, 2.0f})
    expect_same_in_any_cut(
        [=](std::uint64_t first, std::uint64_t n, float* out) { pando_random_truncated_normal(kStream, first, n, 0, 1, alpha, out); });
}

TEST(Random, StreamsAndKeysDiffer) {
  std::vector<std::uint32_t> a(64), b(64);
  pando_random_bits(kStream, 0, 64, a.data());
  for (const PandoRandomStream& other :
       {PandoRandomStream{{kStream.key[0] + 1, kStream.key[1]}, 7}, PandoRandomStream{{kStream.key[0], kStream.key[1] + 1}, 7},
        PandoRandomStream{{kStream.key[0], kStream.key[1]}, 8}}) {
    pando_random_bits(other, 0, 64, b.data());
    EXPECT_NE(a, b);
  }
}

// Largest distance of the sample's distribution from `cdf`.
template <class Cdf>
double kolmogorov_smirnov(std::vector<float> sample, Cdf cdf) {
  std::sort(sample.begin(), sample.end());
  double worst = 0;
  const double n = static_cast<double>(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]);
    worst = std::max({worst, std::abs(f - static_cast<double>(i) / n), std::abs(f - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

TEST(Random, DistributionsAreWhatTheySay) {
  constexpr std::size_t n = 200000;
  const double limit = 1.95 / std::sqrt(static_cast<double>(n));  // one in a thousand samples is farther off
  std::vector<float> x(n);
  pando_random_uniform(kStream, 0, n, -1, 3, x.data());
  EXPECT_LT(kolmogorov_smirnov(x, [](double v) { return (v + 1) / 4; }), limit);
  pando_random_normal(kStream, 0, n, 2, 0.5, x.data());
  EXPECT_LT(kolmogorov_smirnov(x, [](double v) { return normal_cdf((v - 2) / 0.5); }), limit);
  for (const double alpha : {0.1, 1.0, 1.5, 2.0, 4.0}) {
    pando_random_truncated_normal(kStream, 0, n, 1, 2, static_cast<float>(alpha), x.data());
    const double low = normal_cdf(-alpha), high = normal_cdf(alpha);
    EXPECT_LT(kolmogorov_smirnov(x, [&](double v) { return (normal_cdf((v - 1) / 2) - low) / (high - low); }), limit) << alpha;
    for (const float v : x) ASSERT_LE(std::abs(v - 1), 2 * alpha * (1 + 1e-6)) << alpha;
  }
}

}  // namespace
