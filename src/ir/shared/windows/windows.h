// Windows that move over the spatial dimensions of (batch, channels, spatial ...): what convolutions and pooling share.
//
//     in 7, kernel 3, dilation 2, stride 2, 1 before, 1 after:    . 0 1 2 3 4 5 6 .
//                                                                 ^   ^   ^
//                                                                     ^   ^   ^         out 3
//                                                                         ^   ^   ^
#pragma once

#include "ir/rows/define.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

namespace pando::ir {

struct WindowAxis {
  std::int64_t in = 1, kernel = 1, out = 1;
  std::int64_t stride = 1, dilation = 1, in_dilation = 1;
  // Padding; negative: elements that no window sees.
  std::int64_t before = 0, after = 0;

  // How many elements a window spans, and the input with its gaps.
  std::int64_t span() const { return (kernel - 1) * dilation + 1; }
  std::int64_t spread() const { return in == 0 ? 0 : (in - 1) * in_dilation + 1; }
  // The input element under element `k` of window `o`; -1: padding or a gap.
  std::int64_t at(std::int64_t o, std::int64_t k) const {
    const std::int64_t p = o * stride + k * dilation - before;
    if (p < 0 || p % in_dilation != 0 || p / in_dilation >= in) return -1;
    return p / in_dilation;
  }
};

using Windows = std::vector<WindowAxis>;

// What lies behind batch and channels.
inline std::span<const std::int64_t> spatial(const Shape& s) { return std::span(s).subspan(std::min<std::size_t>(2, s.size())); }

// From attributes stride, dilation, in_dilations, padding (all befores, then all afters), pad_type or auto_pad (not_set, same_upper,
// same_lower, valid) and ceil_mode. Lists that are absent, empty, or of other length but all at their default, are the default. `out` is
// computed. Rejects (popart): lists of wrong length, numbers out of range, windows larger than the padded input.
Windows windows_of(const Inference& in, const Attributes& attributes, std::span<const std::int64_t> input,
                   std::span<const std::int64_t> kernel);
// The same without complaints, for what has been inferred.
Windows windows_of(const Attributes& attributes, std::span<const std::int64_t> input, std::span<const std::int64_t> kernel);

Shape outs_of(const Windows& windows);
Shape ins_of(const Windows& windows);
Shape kernel_of(const Windows& windows);

// Calls f(o, k, i) for each window and each element of it that lies on the input: flat positions among windows, in the kernel, in the
// input.
void for_each_cell(const Windows& windows, const std::function<void(std::int64_t o, std::int64_t k, std::int64_t i)>& f);

}  // namespace pando::ir
