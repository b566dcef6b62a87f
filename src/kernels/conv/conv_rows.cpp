// Rows of the input are brought into a buffer with the zeros around them, in which what a row of the kernel meets is one run. A row of the
// result is then a product of matrices: its pixels, each a window's runs, by the weights.
#include "kernels/conv/conv_rows.h"

#include <algorithm>

#include "kernels/conv/conv_image.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_wide.h"

namespace pando::kernels {
namespace {

// out = the kernel rows [begin, end), of which `in` is the first one's input row; of the output channels from `channel` on, at most kWide.
void multiply_rows(const PandoConvRows& c, int begin, int end, const float* in, std::size_t between, const float* weights, int channel,
                   float* out) {
  const auto channels = static_cast<unsigned>(c.in_channels), m = static_cast<unsigned>(c.out_columns);
  const auto n = std::min(kWide, static_cast<unsigned>(c.out_channels - channel));
  // Elements of the kernel whose inputs follow each other are one run.
  const bool runs = c.columns.step == 1;
  const unsigned k = runs ? channels * static_cast<unsigned>(c.columns.taps) : channels;
  const std::size_t lda = static_cast<std::size_t>(c.columns.stride) * channels, tap = static_cast<std::size_t>(c.columns.step) * channels;
  const float* w = weights + static_cast<std::size_t>(begin * c.columns.taps) * channels * c.weights_row + channel;
  out += channel;
  const auto parts = static_cast<unsigned>(end - begin);
  if (runs && n == kWide && multiply_wide({m, n, k, in, lda, 1, w, c.weights_row, kWide, out, c.out_column, false, parts, between})) return;
  bool accumulate = false;
  for (int t = begin; t < end; ++t, in += between)
    for (int s = 0; s < (runs ? 1 : c.columns.taps); ++s, w += k * c.weights_row) {
      pando_gemm_f32(m, n, k, in + static_cast<std::size_t>(s) * tap, static_cast<unsigned>(lda), w, static_cast<unsigned>(c.weights_row),
                     out, static_cast<unsigned>(c.out_column), accumulate);
      accumulate = true;
    }
}

// The kernel rows that meet the input, of output row `row`.
void taps_of(const PandoConvAxis& a, int row, int& begin, int& end) {
  const int at = a.stride * row + a.offset;
  begin = at < 0 ? std::min(a.taps, (-at + a.step - 1) / a.step) : 0;
  end = at >= a.in ? begin : std::clamp((a.in - at + a.step - 1) / a.step, begin, a.taps);
}

// Output row `row`, of the channels from `channel` on, at most kWide.
void one_row(const PandoConvRows& c, const ImageRows& rows, int row, int channel, const float* weights, float* out) {
  int begin = 0, end = 0;
  taps_of(c.rows, row, begin, end);
  if (begin < end) {
    const float* in = rows.row(c.rows.stride * row + c.rows.offset + c.rows.step * begin);
    return multiply_rows(c, begin, end, in, static_cast<std::size_t>(c.rows.step) * rows.row_size(), weights, channel, out);
  }
  const auto n = std::min(kWide, static_cast<unsigned>(c.out_channels - channel));
  for (int i = 0; i < c.out_columns; ++i) std::fill_n(out + static_cast<std::size_t>(i) * c.out_column + channel, n, 0.0f);
}

}  // namespace
}  // namespace pando::kernels

void pando_conv_rows(const PandoConvRows* conv, const float* in, const float* weights, float* out, const PandoEpilogue* epilogue) {
  using namespace pando::kernels;
  const PandoConvRows& c = *conv;
  if (c.row_begin >= c.row_end || c.out_columns <= 0 || c.out_channels <= 0) return;
  ImageRows rows(c, in, 1);
  const auto pixels = static_cast<std::size_t>(c.out_columns);
  for (int first = c.row_begin; first < c.row_end; first += rows.at_once()) {
    const int last = std::min(first + rows.at_once(), c.row_end);
    rows.bring(first, last);
    // A range of channels at a time: its weights stay near for all rows.
    for (int channel = 0; channel < c.out_channels; channel += static_cast<int>(kWide))
      for (int r = first; r < last; ++r) {
        const std::size_t pixel = static_cast<std::size_t>(r - c.row_begin) * pixels;
        one_row(c, rows, r, channel, weights, out + pixel * c.out_column);
        const bool complete = channel + static_cast<int>(kWide) >= c.out_channels;
        if (epilogue != nullptr && complete) pando_finish(epilogue, pixel, pixels, 0, static_cast<std::size_t>(c.out_channels));
      }
  }
}
