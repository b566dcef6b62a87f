// What the Reduce operators share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// A row over the node's axes. Integers that the row does not take are computed as float32.
void reduce_with(Context& c, std::string_view row);

template <FixedText name>
void reduction(Context& c) {
  reduce_with(c, name.view());
}

}  // namespace pando::onnx
