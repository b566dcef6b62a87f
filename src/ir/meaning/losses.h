// What the rows of losses share.
#pragma once

#include "ir/rows/define.h"

namespace pando::ir {

// x and y of one type, and a scalar n; the result has x's type.
void infer_squared_loss(Inference& in);

}  // namespace pando::ir
