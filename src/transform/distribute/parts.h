// Boxes of host tensors: what a device holds of a whole.
#pragma once

#include "ir/host_tensor.h"

namespace pando::transform {

// The box of `shape` that begins at `start`.
ir::HostTensor part_of(const ir::HostTensor& whole, const ir::Shape& start, const ir::Shape& shape);
// Puts a part back.
void put_part(ir::HostTensor& whole, const ir::HostTensor& part, const ir::Shape& start);

}  // namespace pando::transform
