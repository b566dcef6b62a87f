// GridSample.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

void sample_grid(Context& c);

}  // namespace pando::onnx
