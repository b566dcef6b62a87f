#include "kernels/conv/conv_winograd.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

std::vector<float> small_integers(std::size_t n, int modulus) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - modulus / 2);
  return out;
}

// Sums of small integers are exact in both.
TEST(ConvWinograd, EqualsTheDefinition) {
  struct Case {
    int height, width, in, out, begin, end, padding;
    bool channels_first;
  };
  for (const Case& k : {Case{8, 8, 16, 16, 0, 8, 1, false}, Case{12, 10, 32, 64, 2, 8, 1, true}, Case{20, 30, 16, 80, 0, 18, 0, false},
                        Case{56, 56, 64, 64, 14, 28, 1, false}, Case{4, 300, 48, 128, 0, 4, 1, false}}) {
    const int columns = k.width + 2 * k.padding - 2;
    const auto in_channels = static_cast<std::size_t>(k.in), out_channels = static_cast<std::size_t>(k.out), n = in_channels * out_channels;
    PandoConvRows c{{k.height, 3, 1, -k.padding, 1},
                    {k.width, 3, 1, -k.padding, 1},
                    k.in,
                    k.out,
                    k.begin,
                    k.end,
                    columns,
                    0,
                    0,
                    0,
                    out_channels,
                    out_channels};
    const auto height = static_cast<std::size_t>(k.height), width = static_cast<std::size_t>(k.width);
    c.in_row = k.channels_first ? width : width * in_channels;
    c.in_column = k.channels_first ? 1 : in_channels;
    c.in_channel = k.channels_first ? height * width : 1;
    const std::vector<float> in = small_integers(height * width * in_channels, 9), weights = small_integers(9 * n, 7);
    std::vector<float> turned(16 * n), expected(static_cast<std::size_t>((k.end - k.begin) * columns) * out_channels),
        out(expected.size(), 99);
    for (const std::size_t begin : {std::size_t{0}, n / 3}) {
      float* parts[16];
      for (std::size_t t = 0; t < 16; ++t) parts[t] = turned.data() + t * n + begin;
      pando_winograd_weights(n, begin, begin == 0 ? n / 3 : n, weights.data(), parts);
    }
    pando_conv_rows(&c, in.data(), weights.data(), expected.data());
    pando_conv_winograd(&c, in.data(), turned.data(), out.data());
    EXPECT_EQ(out, expected) << k.in << " to " << k.out << " channels";
  }
}

TEST(ConvWinograd, RoundsLittleMoreThanTheDefinition) {
  const int channels = 64, size = 16;
  const std::size_t n = 64 * 64;
  const PandoConvRows c{{size, 3, 1, -1, 1}, {size, 3, 1, -1, 1}, channels, channels, 0, size, size, 16 * 64, 64, 1, 64, 64};
  std::vector<float> in(16 * 16 * 64), weights(9 * n), turned(16 * n), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i)));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(std::cos(0.73 * static_cast<double>(i)));
  float* parts[16];
  for (std::size_t t = 0; t < 16; ++t) parts[t] = turned.data() + t * n;
  pando_winograd_weights(n, 0, n, weights.data(), parts);
  pando_conv_winograd(&c, in.data(), turned.data(), out.data());
  for (int r = 0; r < size; ++r)
    for (int o = 0; o < size; ++o)
      for (int k = 0; k < channels; k += 9) {
        double sum = 0, magnitude = 0;
        for (int t = 0; t < 9; ++t) {
          const int row = r + t / 3 - 1, column = o + t % 3 - 1;
          if (row < 0 || row >= size || column < 0 || column >= size) continue;
          for (int i = 0; i < channels; ++i) {
            const double product = static_cast<double>(in[static_cast<std::size_t>((row * size + column) * 64 + i)]) *
                                   weights[static_cast<std::size_t>((t * 64 + i) * 64 + k)];
            sum += product;
            magnitude += std::abs(product);
          }
        }
        EXPECT_NEAR(out[static_cast<std::size_t>((r * size + o) * 64 + k)], sum, 1e-6 * magnitude);
      }
}

}  // namespace
