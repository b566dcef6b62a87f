// float8 tensors: bytes, which the library's quarters convert.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// 2 to the power of operand `i`, an int32 scalar: {}, float.
poplar::Tensor power_of_two(OpLowering& o, std::size_t i);
// Operand `i` as float or half.
poplar::Tensor float8_decoded(OpLowering& o, std::size_t i, const poplar::Type& type);
// Floats in a float8 type; what is too large, and infinities, become NaN.
poplar::Tensor float8_encoded(OpLowering& o, const poplar::Tensor& t, ir::DType format);

}  // namespace pando::lower
