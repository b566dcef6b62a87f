// What the pools share.
#pragma once

#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

// Of a node with data (batch, channels, spatial ...) and the attribute kernel_shape.
struct PooledData {
  Shape shape;
  Ints spatial;
  WindowPlan plan;
};
PooledData pooled_data(Context& c);

// What rows of pools are told.
Attributes pool_attributes(const WindowPlan& plan);
// One number for each place of a window, that broadcasts to the result: made of how many elements and cells of padding lie under it.
ValueId by_place(Context& c, const PooledData& data, DType dtype, const std::function<double(double elements, double padding)>& f);
// A reduction over all spatial dimensions.
void pool_globally(Context& c, std::string_view row);

}  // namespace pando::onnx
