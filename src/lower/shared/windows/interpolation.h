// Interpolation, dimension by dimension: views, or sums of weighted elements.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// Operand 0 of shape `from` made into `to`; `transposed`: of shape `to`, made into `from` by the transposed matrices.
void interpolate_dimensions(OpLowering& o, const ir::Shape& from, const ir::Shape& to, bool transposed);

}  // namespace pando::lower
