// Unique.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// On the host, as how many there are depends on the data.
void distinct(Context& c);

}  // namespace pando::onnx
