// What Softmax and LogSoftmax share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// The composition of one axis; before opset 13 of all dimensions from the axis on, as one.
void normalise_exponentials(Context& c, std::string_view composition);

}  // namespace pando::onnx
