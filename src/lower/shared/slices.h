// Static slices as views.
#pragma once

#include "ir/op_row.h"

#include <poplar/Tensor.hpp>

namespace pando::lower {

// The elements of `t` that attributes start, stop, step and axis name.
poplar::Tensor sliced(poplar::Tensor t, const ir::Shape& shape, const ir::Attributes& attributes);

}  // namespace pando::lower
