// Convolutions of integers of 8 bits.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// Of data and weights (operands by number, with their zero points), exact, as int32. The attributes are those of Conv.
ValueId integer_convolution(Context& c, std::size_t data, std::size_t data_zero, std::size_t weight, std::size_t weight_zero);

}  // namespace pando::onnx
