// Combinations of tensors of one replica's devices.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

void reduce_over_devices(OpLowering& o);

}  // namespace pando::lower
