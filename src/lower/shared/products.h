// Matrix products: NumPy's matmul in terms of (groups of) two-dimensional products.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// The product of tensors that may be of another type than the op's operands, which give the shapes. Written to `into` if that is given.
poplar::Tensor product(OpLowering& o, const poplar::Tensor& lhs, const poplar::Tensor& rhs, ir::DType result,
                       const poplar::Tensor& into = {});
void lower_product(OpLowering& o);
bool finish_product(OpLowering& o, Epilogue& epilogue);
poplar::Tensor product_layout(const LayoutRequest& r);

}  // namespace pando::lower
