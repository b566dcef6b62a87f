// Einsum.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

void contract(Context& c);

}  // namespace pando::onnx
