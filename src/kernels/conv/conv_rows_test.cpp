#include "kernels/conv/conv_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

std::vector<float> small_integers(std::size_t n, int modulus) {
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<float>(static_cast<int>(i * 7 % static_cast<std::size_t>(modulus)) - modulus / 2);
  return out;
}

std::vector<float> naive(const PandoConvRows& c, const std::vector<float>& in, const std::vector<float>& weights) {
  std::vector<float> out;
  for (int r = c.row_begin; r < c.row_end; ++r)
    for (int o = 0; o < c.out_columns; ++o)
      for (int k = 0; k < c.out_channels; ++k) {
        float sum = 0;
        for (int t = 0; t < c.rows.taps; ++t)
          for (int s = 0; s < c.columns.taps; ++s) {
            const int row = c.rows.stride * r + c.rows.offset + c.rows.step * t,
                      column = c.columns.stride * o + c.columns.offset + c.columns.step * s;
            if (row < 0 || row >= c.rows.in || column < 0 || column >= c.columns.in) continue;
            for (int i = 0; i < c.in_channels; ++i)
              sum += in[static_cast<std::size_t>(row) * c.in_row + static_cast<std::size_t>(column) * c.in_column +
                        static_cast<std::size_t>(i) * c.in_channel] *
                     weights[static_cast<std::size_t>((t * c.columns.taps + s) * c.in_channels + i) * c.weights_row +
                             static_cast<std::size_t>(k)];
          }
        out.push_back(sum);
      }
  return out;
}

void check(PandoConvAxis rows, PandoConvAxis columns, int in_channels, int out_channels, int row_begin, int row_end, int out_columns,
           bool channels_first) {
  PandoConvRows c{rows, columns, in_channels, out_channels, row_begin, row_end, out_columns, 0, 0, 0, 0, 0};
  const auto width = static_cast<std::size_t>(columns.in), channels = static_cast<std::size_t>(in_channels),
             height = static_cast<std::size_t>(rows.in);
  c.in_row = channels_first ? width : width * channels;
  c.in_column = channels_first ? 1 : channels;
  c.in_channel = channels_first ? height * width : 1;
  c.weights_row = c.out_column = static_cast<std::size_t>(out_channels);
  const std::vector<float> in = small_integers(height * width * channels, 9);
  const std::vector<float> weights = small_integers(static_cast<std::size_t>(rows.taps * columns.taps * in_channels) * c.weights_row, 7);
  const std::vector<float> expected = naive(c, in, weights);
  std::vector<float> out(expected.size(), 99);
  pando_conv_rows(&c, in.data(), weights.data(), out.data());
  EXPECT_EQ(out, expected) << in_channels << " to " << out_channels << " channels, rows " << row_begin << " to " << row_end;
}

TEST(ConvRows, ComputesWhatTheDefinitionSays) {
  for (const bool channels_first : {false, true})
    for (const int out_channels : {3, 64, 70, 130}) {
      check({9, 3, 1, -1, 1}, {11, 3, 1, -1, 1}, 5, out_channels, 0, 9, 11, channels_first);
      check({9, 3, 1, -1, 1}, {11, 3, 1, -1, 1}, 1, out_channels, 4, 7, 11, channels_first);
      check({20, 7, 2, -3, 1}, {20, 7, 2, -3, 1}, 3, out_channels, 0, 10, 10, channels_first);
      check({20, 3, 1, -2, 2}, {21, 3, 1, -2, 2}, 4, out_channels, 0, 20, 21, channels_first);
      check({7, 1, 2, 0, 1}, {7, 1, 2, 0, 1}, 8, out_channels, 0, 4, 4, channels_first);
      check({2, 3, 3, -7, 1}, {3, 2, 2, -5, 3}, 2, out_channels, 0, 5, 5, channels_first);  // some outputs meet nothing
      check({1, 1, 1, 0, 1}, {40, 5, 1, 0, 1}, 6, out_channels, 0, 1, 36, channels_first);
    }
}

TEST(ConvRows, BringsManyRowsInSeveralGoes) {
  check({40, 3, 1, -1, 1}, {40, 3, 1, -1, 1}, 64, 64, 3, 40, 40, false);
  check({40, 3, 2, -1, 1}, {40, 3, 2, -1, 1}, 64, 128, 0, 20, 20, true);
}

}  // namespace
