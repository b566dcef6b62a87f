// Rows of an image in a buffer, with the zeros around them that convolutions meet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "kernels/conv/conv_rows.h"
#include "kernels/transpose.h"

namespace pando::kernels {

class ImageRows {
 public:
  // Holds what `step` rows of the result meet, or a multiple of it.
  ImageRows(const PandoConvRows& c, const float* in, int step)
      : c_(c),
        in_(in),
        width_(static_cast<std::size_t>(c.columns.stride * (c.out_columns - 1) + c.columns.step * (c.columns.taps - 1) + 1)),
        row_(width_ * static_cast<std::size_t>(c.in_channels)) {
    const std::size_t of_one = row_ * static_cast<std::size_t>(span(step)), of_more = row_ * static_cast<std::size_t>(c.rows.stride * step);
    at_once_ = step + (of_one < kBuffer ? step * static_cast<int>((kBuffer - of_one) / of_more) : 0);
    at_once_ = std::min(at_once_, (c.row_end - c.row_begin + step - 1) / step * step);
    const std::size_t elements = row_ * static_cast<std::size_t>(span(at_once_));
    if (elements > kBuffer) larger_.reset(new float[elements]);
    data_ = elements > kBuffer ? larger_.get() : buffer_;
  }

  ImageRows(const ImageRows&) = delete;
  ImageRows& operator=(const ImageRows&) = delete;

  int at_once() const { return at_once_; }
  std::size_t row_size() const { return row_; }

  // What output rows [begin, begin + at_once()) meet.
  void bring(int begin, int end) {
    first_ = c_.rows.stride * begin + c_.rows.offset;
    for (int r = 0; r < span(end - begin); ++r) {
      float* const to = data_ + static_cast<std::size_t>(r) * row_;
      if (first_ + r >= 0 && first_ + r < c_.rows.in)
        bring_row(in_ + static_cast<std::size_t>(first_ + r) * c_.in_row, to);
      else
        std::fill_n(to, row_, 0.0f);
    }
  }
  const float* row(int in_row) const { return data_ + static_cast<std::size_t>(in_row - first_) * row_; }

 private:
  int span(int rows) const { return c_.rows.stride * (rows - 1) + c_.rows.step * (c_.rows.taps - 1) + 1; }

  void bring_row(const float* from, float* to) const {
    const auto channels = static_cast<std::size_t>(c_.in_channels);
    const auto width = static_cast<long>(width_), offset = static_cast<long>(c_.columns.offset);
    const long begin = std::clamp(-offset, 0L, width), end = std::clamp(c_.columns.in - offset, begin, width);
    std::fill_n(to, static_cast<std::size_t>(begin) * channels, 0.0f);
    std::fill_n(to + static_cast<std::size_t>(end) * channels, static_cast<std::size_t>(width - end) * channels, 0.0f);
    if (begin == end) return;
    from += static_cast<std::size_t>(begin + offset) * c_.in_column;
    to += static_cast<std::size_t>(begin) * channels;
    const auto n = static_cast<std::size_t>(end - begin);
    if (c_.in_channel == 1 && c_.in_column == channels)
      std::memcpy(to, from, n * channels * sizeof(float));
    else if (c_.in_column == 1)
      transpose(from, c_.in_channel, channels, n, to, channels);
    else
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < channels; ++k) to[i * channels + k] = from[i * c_.in_column + k * c_.in_channel];
  }

  static constexpr std::size_t kBuffer = 48 << 10;  // elements, unless one row of the result needs more

  const PandoConvRows& c_;
  const float* in_;
  std::size_t width_, row_;
  int at_once_ = 1, first_ = 0;
  // Memory that is taken from the system anew costs more than what is done in it.
  alignas(64) float buffer_[kBuffer];
  std::unique_ptr<float[]> larger_;
  float* data_ = nullptr;
};

}  // namespace pando::kernels
