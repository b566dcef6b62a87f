// Products of matrices of any type.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// As NumPy's matmul. Integers of 8 bits are multiplied as float32 in pieces whose sums are exact and added as int32; of others each
// product is rounded nowhere, as they are multiplied and added element by element.
ValueId exact_matmul(Context& c, ValueId a, ValueId b);

// float32 values that are whole and at most 255 in magnitude: the product, as int32, exact.
ValueId product_of_bytes(Context& c, ValueId a, ValueId b);

}  // namespace pando::onnx
