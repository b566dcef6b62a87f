#include "kernels/conv/conv.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

long product(const ConvBlock& b, int ConvLine::* member) {
  long n = 1;
  for (int d = 0; d < b.dims; ++d) n *= b.lines[d].*member;
  return n;
}

// Calls f(input, tap, output) for all elements of the field that meet.
template <class F>
void each_meeting(const ConvBlock& b, const F& f, int d = 0, long i = 0, long t = 0, long o = 0) {
  if (d == b.dims) return f(i, t, o);
  const ConvLine& l = b.lines[d];
  for (int in = 0; in < l.in; ++in)
    for (int tap = 0; tap < l.taps; ++tap)
      for (int out = 0; out < l.out; ++out)
        if (l.dilation * in == l.stride * out + l.offset + l.step * tap)
          each_meeting(b, f, d + 1, i * l.in + in, t * l.taps + tap, o * l.out + out);
}

std::vector<float> numbers(long n, int seed) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5;
  return v;
}

const std::vector<ConvBlock> kBlocks = {
    {1, {{9, 7, 3, 1, 1, 0, 1}}, 2, 5, 6, false, false},
    {2, {{6, 6, 3, 1, 1, -1, 1}, {7, 7, 3, 1, 1, -1, 1}}, 2, 3, 70, false, false},
    {2, {{9, 5, 3, 2, 1, -1, 1}, {8, 4, 2, 2, 1, 0, 1}}, 1, 4, 5, false, false},
    {2, {{3, 9, 3, 1, 2, -2, 1}, {4, 5, 3, 3, 2, 1, -1}}, 2, 3, 2, false, false},
    {3, {{2, 3, 2, 1, 1, -1, 1}, {3, 2, 2, 1, 1, 0, 1}, {5, 4, 3, 1, 1, -1, 1}}, 1, 2, 9, false, false},
    {1, {{4, 6, 2, 1, 1, 9, 1}}, 1, 2, 3, false, false},  // nothing meets
    {1, {{4, 3, 2, 3, 4, -8, 2}}, 1, 2, 3, false, false},
};

// Two pieces of the channels, or one.
struct Split {
  std::vector<std::vector<float>> parts;
  ConvOperand operand;
  // From [rows][channels].
  Split(const std::vector<float>& all, long channels, bool two, int order) {
    const long rows = static_cast<long>(all.size()) / channels;
    operand.order = order;
    operand.n_pieces = 0;
    const std::vector<std::pair<long, long>> halves = {{0, channels / 2}, {channels / 2, channels}}, whole = {{0, channels}};
    for (const auto& [begin, end] : two ? halves : whole) {
      std::vector<float>& part = parts.emplace_back();
      for (long r = 0; r < rows; ++r)
        for (long c = begin; c < end; ++c) part.push_back(all[static_cast<std::size_t>(r * channels + c)]);
    }
    for (std::size_t p = 0; p < parts.size(); ++p)
      operand.pieces[operand.n_pieces++] = {parts[p].data(), static_cast<int>(static_cast<long>(parts[p].size()) / rows)};
  }
};

ConvOperand one_piece(const void* data, int channels, int order) {
  ConvOperand o;
  o.n_pieces = 1;
  o.order = order;
  o.pieces[0] = {data, channels};
  return o;
}

std::vector<float> forward_by_hand(const ConvBlock& b, const std::vector<float>& in, const std::vector<float>& weights) {
  const long field = product(b, &ConvLine::in), outs = product(b, &ConvLine::out);
  std::vector<float> out(static_cast<std::size_t>(b.batch * outs * b.out_channels));
  each_meeting(b, [&](long i, long t, long o) {
    for (int n = 0; n < b.batch; ++n)
      for (int c = 0; c < b.in_channels; ++c)
        for (int k = 0; k < b.out_channels; ++k)
          out[static_cast<std::size_t>((n * outs + o) * b.out_channels + k)] +=
              in[static_cast<std::size_t>((n * field + i) * b.in_channels + c)] *
              weights[static_cast<std::size_t>((t * b.in_channels + c) * b.out_channels + k)];
  });
  return out;
}

TEST(Conv, ForwardOfPiecesInAllOrders) {
  for (const ConvBlock& b : kBlocks) {
    const long field = product(b, &ConvLine::in), taps = product(b, &ConvLine::taps), ins = b.in_channels, outs = b.out_channels;
    const std::vector<float> in = numbers(b.batch * field * ins, 1), weights = numbers(taps * ins * outs, 2),
                             expected = forward_by_hand(b, in, weights);
    std::vector<float> first(in.size()), by_order[4] = {weights, weights, weights, weights};
    for (long n = 0; n < b.batch; ++n)
      for (long i = 0; i < field; ++i)
        for (long c = 0; c < ins; ++c)
          first[static_cast<std::size_t>((n * ins + c) * field + i)] = in[static_cast<std::size_t>((n * field + i) * ins + c)];
    for (long t = 0; t < taps; ++t)
      for (long c = 0; c < ins; ++c)
        for (long k = 0; k < outs; ++k) {
          const float w = weights[static_cast<std::size_t>((t * ins + c) * outs + k)];
          by_order[kChannelsFirst][static_cast<std::size_t>((c * outs + k) * taps + t)] = w;
          by_order[kTransposed][static_cast<std::size_t>((t * outs + k) * ins + c)] = w;
          by_order[kTransposedFirst][static_cast<std::size_t>((k * ins + c) * taps + t)] = w;
        }
    for (int order = 0; order < 4; ++order)
      for (const bool two : {false, true}) {
        const Split pieces(in, ins, two, kChannelsLast),
            kernel(by_order[order], order == kTransposed ? ins : 1, order == kTransposed && two, order);
        ConvOperand w = order == kTransposed ? kernel.operand : one_piece(by_order[order].data(), b.in_channels, order);
        std::vector<float> out(expected.size(), 77);
        pando_conv_forward(&b, &pieces.operand, &w, out.data());
        EXPECT_EQ(out, expected) << "order " << order;
        const ConvOperand whole = one_piece(first.data(), b.in_channels, kChannelsFirst);
        std::fill(out.begin(), out.end(), 77.0f);
        pando_conv_forward(&b, &whole, &w, out.data());
        EXPECT_EQ(out, expected) << "channels first, order " << order;
      }
  }
}

// Rows and kernel elements in memory of their own.
struct ByRow {
  std::vector<std::vector<float>> parts;
  ConvOperand operand;
  ByRow(const std::vector<float>& all, std::size_t rows, int channels) {
    operand.order = kByRow;
    operand.n_pieces = static_cast<int>(rows);
    const std::size_t n = all.size() / rows;
    for (std::size_t r = 0; r < rows; ++r)
      parts.emplace_back(all.begin() + static_cast<long>(r * n), all.begin() + static_cast<long>((r + 1) * n));
    for (std::size_t r = 0; r < rows; ++r) operand.pieces[r] = {parts[r].data(), channels};
  }
};

TEST(Conv, RowsMayLieApart) {
  for (const ConvBlock& b : kBlocks) {
    if (b.dims == 1) continue;
    const long taps = product(b, &ConvLine::taps);
    const std::vector<float> in = numbers(b.batch * product(b, &ConvLine::in) * b.in_channels, 1),
                             weights = numbers(taps * b.in_channels * b.out_channels, 2),
                             deltas = numbers(b.batch * product(b, &ConvLine::out) * b.out_channels, 3);
    const ConvOperand in_whole = one_piece(in.data(), b.in_channels, kChannelsLast),
                      weights_whole = one_piece(weights.data(), b.in_channels, kChannelsLast),
                      deltas_whole = one_piece(deltas.data(), b.out_channels, kChannelsLast);
    const ByRow in_rows(in, static_cast<std::size_t>(b.batch * b.lines[0].in), b.in_channels),
        kernel(weights, static_cast<std::size_t>(taps), b.in_channels),
        delta_rows(deltas, static_cast<std::size_t>(b.batch * b.lines[0].out), b.out_channels);
    std::vector<float> expected(deltas.size()), out(deltas.size(), 77), gradient(weights.size()), gradient_of_rows(weights.size(), 77);
    pando_conv_forward(&b, &in_whole, &weights_whole, expected.data());
    pando_conv_forward(&b, &in_rows.operand, &kernel.operand, out.data());
    EXPECT_EQ(out, expected);
    pando_conv_weight_gradient(&b, &in_whole, &deltas_whole, gradient.data());
    pando_conv_weight_gradient(&b, &in_rows.operand, &delta_rows.operand, gradient_of_rows.data());
    EXPECT_EQ(gradient_of_rows, gradient);
  }
}

TEST(Conv, HalfRowsMayLieApart) {
  ConvBlock b = kBlocks[1];
  const long taps = product(b, &ConvLine::taps);
  const std::vector<float> in = numbers(b.batch * product(b, &ConvLine::in) * b.in_channels, 1),
                           weights = numbers(taps * b.in_channels * b.out_channels, 2), expected = forward_by_hand(b, in, weights);
  const std::vector<_Float16> half_in(in.begin(), in.end()), half_weights(weights.begin(), weights.end());
  ConvOperand rows, kernel;
  rows.order = kernel.order = kByRow;
  rows.n_pieces = b.batch * b.lines[0].in;
  kernel.n_pieces = static_cast<int>(taps);
  for (int r = 0; r < rows.n_pieces; ++r)
    rows.pieces[r] = {half_in.data() + static_cast<std::size_t>(r) * half_in.size() / static_cast<std::size_t>(rows.n_pieces),
                      b.in_channels};
  for (int t = 0; t < kernel.n_pieces; ++t) kernel.pieces[t] = {half_weights.data() + t * b.in_channels * b.out_channels, b.in_channels};
  b.half_operands = true;
  std::vector<float> out(expected.size());
  pando_conv_forward(&b, &rows, &kernel, out.data());
  EXPECT_EQ(out, expected);
}

TEST(Conv, ForwardOfHalf) {
  for (ConvBlock b : kBlocks) {
    const std::vector<float> in = numbers(b.batch * product(b, &ConvLine::in) * b.in_channels, 1),
                             weights = numbers(product(b, &ConvLine::taps) * b.in_channels * b.out_channels, 2),
                             expected = forward_by_hand(b, in, weights);
    const std::vector<_Float16> half_in(in.begin(), in.end()), half_weights(weights.begin(), weights.end());
    const ConvOperand i = one_piece(half_in.data(), b.in_channels, kChannelsLast),
                      w = one_piece(half_weights.data(), b.in_channels, kChannelsLast);
    b.half_operands = true;
    std::vector<float> out(expected.size());
    pando_conv_forward(&b, &i, &w, out.data());
    EXPECT_EQ(out, expected);
    b.half_result = true;
    std::vector<_Float16> half_out(expected.size());
    pando_conv_forward(&b, &i, &w, half_out.data());
    for (std::size_t k = 0; k < out.size(); ++k) EXPECT_EQ(half_out[k], static_cast<_Float16>(expected[k]));
  }
}

TEST(Conv, WeightGradientOfPieces) {
  for (const ConvBlock& b : kBlocks) {
    const long field = product(b, &ConvLine::in), outs = product(b, &ConvLine::out), taps = product(b, &ConvLine::taps);
    const std::vector<float> in = numbers(b.batch * field * b.in_channels, 1), deltas = numbers(b.batch * outs * b.out_channels, 3);
    std::vector<float> expected(static_cast<std::size_t>(taps * b.in_channels * b.out_channels));
    each_meeting(b, [&](long i, long t, long o) {
      for (int n = 0; n < b.batch; ++n)
        for (int c = 0; c < b.in_channels; ++c)
          for (int k = 0; k < b.out_channels; ++k)
            expected[static_cast<std::size_t>((t * b.in_channels + c) * b.out_channels + k)] +=
                in[static_cast<std::size_t>((n * field + i) * b.in_channels + c)] *
                deltas[static_cast<std::size_t>((n * outs + o) * b.out_channels + k)];
    });
    for (const bool two : {false, true}) {
      const Split i(in, b.in_channels, two, kChannelsLast), d(deltas, b.out_channels, two, kChannelsLast);
      std::vector<float> out(expected.size(), 77);
      pando_conv_weight_gradient(&b, &i.operand, &d.operand, out.data());
      EXPECT_EQ(out, expected);
    }
  }
}

}  // namespace
