// Loop and Scan.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

void loop(Context& c);
void scan(Context& c);

}  // namespace pando::onnx
