#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/elementwise/nonlinearity.h"

// How halfs are read and written by kernels of every instruction set: by a function that keeps what is positive.
namespace {

using pando::kernels::Activation;

float value_of(std::uint16_t code) { return static_cast<float>(std::bit_cast<_Float16>(code)); }

TEST(Halfs, AllAreReadAndWrittenAsTheyAre) {
  std::vector<std::uint16_t> all;
  for (std::uint32_t code = 0; code < 0x10000; ++code) all.push_back(static_cast<std::uint16_t>(code));
  for (const unsigned n : {65536u, 65533u}) {
    std::vector<std::uint16_t> out(all.size(), 0xbeef);
    pando_activation_f16(Activation::relu, n, all.data(), out.data());
    for (unsigned i = 0; i < n; ++i) {
      const float in = value_of(all[i]), found = value_of(out[i]);
      if (std::isnan(in))
        EXPECT_TRUE(std::isnan(found)) << i;
      else
        EXPECT_EQ(found, in < 0 ? 0 : in) << i;
    }
  }
}

// The slope of tanh times a gradient: numbers of all sizes, below the least normal half, too.
TEST(Halfs, AreRoundedToTheNearestEven) {
  std::vector<std::uint16_t> x(4096), out(4096);
  std::vector<std::uint16_t> activations(4096);
  std::uint32_t seed = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    seed = seed * 1664525 + 1013904223;
    x[i] = static_cast<std::uint16_t>(seed >> 16);
    seed = seed * 1664525 + 1013904223;
    activations[i] = static_cast<std::uint16_t>(seed >> 16);
  }
  pando_activation_gradient_f16(Activation::tanh, static_cast<unsigned long>(x.size()), activations.data(), x.data(), out.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float a = value_of(activations[i]), exact = value_of(x[i]) * std::fma(-a, a, 1.0f);
    const float expected = static_cast<float>(static_cast<_Float16>(exact)), found = value_of(out[i]);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << i;
    else
      EXPECT_EQ(found, expected) << i;
  }
}

}  // namespace
