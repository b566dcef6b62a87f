// The rows of the input that a part meets become floats beside each other, which the convolution of floats reads as its image.
#include "kernels/conv/conv_half.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/conv/conv_winograd.h"
#include "kernels/elementwise/elementwise.h"

namespace pando::kernels {
namespace {

using Half = std::uint16_t;  // its bits

// Memory that is taken from the system anew costs more than what is done in it.
thread_local std::vector<float> image, result;

void widen(const Half* from, std::size_t n, float* to) { pando_convert(Type::f16, Type::f32, from, to, n); }

float* at_least(std::vector<float>& scratch, std::size_t elements) {
  if (scratch.size() < elements) scratch.resize(elements);
  return scratch.data();
}

// Rows [begin, end) of the image, in its order; `c` becomes the convolution of these.
const float* bring(PandoConvRows& c, const Half* in, int begin, int end) {
  const auto rows = static_cast<std::size_t>(end - begin), channels = static_cast<std::size_t>(c.in_channels), plane = rows * c.in_row;
  const std::size_t skipped = static_cast<std::size_t>(begin) * c.in_row;
  const bool channels_last = c.in_channel == 1;
  float* const to = at_least(image, channels_last ? plane : channels * plane);
  if (channels_last) {
    widen(in + skipped, plane, to);
  } else {
    for (std::size_t k = 0; k < channels; ++k) widen(in + k * c.in_channel + skipped, plane, to + k * plane);
    c.in_channel = plane;
  }
  c.rows.in = end - begin;
  c.rows.offset -= begin;
  return to;
}

}  // namespace
}  // namespace pando::kernels

void pando_conv_rows_f16(const PandoConvRows* conv, bool winograd, const void* in, const float* weights, void* out) {
  using namespace pando::kernels;
  PandoConvRows c = *conv;
  if (c.row_begin >= c.row_end || c.out_columns <= 0 || c.out_channels <= 0) return;
  const int first = c.rows.stride * c.row_begin + c.rows.offset,
            last = c.rows.stride * (c.row_end - 1) + c.rows.offset + c.rows.step * (c.rows.taps - 1);
  // At least one row, which may meet nothing.
  const int begin = std::clamp(first, 0, c.rows.in - 1), end = std::clamp(last + 1, begin + 1, c.rows.in);
  const float* const from = bring(c, static_cast<const Half*>(in), begin, end);
  const std::size_t elements = static_cast<std::size_t>(c.row_end - c.row_begin) * static_cast<std::size_t>(c.out_columns) * c.out_column;
  float* const to = at_least(result, elements);
  (winograd ? &pando_conv_winograd : &pando_conv_rows)(&c, from, weights, to, nullptr);
  pando_convert(Type::f32, Type::f16, to, out, elements);
}
