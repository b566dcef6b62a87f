// Windows of convolutions and pools, as their attributes say them.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

struct WindowPlan {
  Ints kernel, strides, dilations, befores, afters;
  bool ceil = false;
  // Of the result.
  Ints outs;

  Ints pads() const;  // all befores, then all afters
  bool padded() const;
  std::size_t axes() const { return kernel.size(); }
};

// Reads strides, dilations, pads and auto_pad (and ceil_mode, where the node has it). `spatial`: the data's dimensions behind batch and
// channels. Rejects windows that do not fit.
WindowPlan window_plan(const Context& c, const Ints& spatial, const Ints& kernel);

// For each place of a window (row-major), the elements under it: f(place, cell of the kernel, position in the data or -1 in padding or
// behind it).
void for_each_window_cell(const WindowPlan& plan, const Ints& spatial,
                          const std::function<void(std::int64_t place, std::int64_t cell, std::int64_t position, bool in_padding)>& f);

// Convolution with bias, its attributes those of the node.
ValueId convolution(Context& c, ValueId x, ValueId weight);
// A bias by channel, beside data of `rank` dimensions.
ValueId by_channel(Context& c, ValueId v, std::size_t rank);

}  // namespace pando::onnx
