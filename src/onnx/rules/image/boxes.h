// NonMaxSuppression.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// On the host, as how many boxes are left depends on the data.
void suppress(Context& c);

}  // namespace pando::onnx
