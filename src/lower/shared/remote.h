// Rows of remote buffers.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// Operand `i`, an integer scalar, as the graph level wants offsets.
poplar::Tensor remote_offset(OpLowering& o, std::size_t i);
poplar::RemoteBuffer remote_buffer(OpLowering& o);

}  // namespace pando::lower
