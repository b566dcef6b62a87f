// Resize and Upsample.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

void resize(Context& c);
void upsample(Context& c);

}  // namespace pando::onnx
