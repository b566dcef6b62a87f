// Pieces of whole tensors, as a file of pieces says them, beside the program whose parts they are.
#pragma once

#include "ir/module.h"
#include "transform/distribute/pieces.h"

#include <string>

namespace pando::ranks {

// A box of `shape` of a whole of the shape `all`. Of a tensor with more dimensions it is one element of the first of them. Rejects (value)
// what is not inside; `name` is the part's.
ir::Shape box_of(const ir::Shape& all, const ir::Shape& start, const ir::Shape& shape, const std::string& name);

// Rejects (value) pieces of another program than this module: parts that it does not have, or that are no box of their whole tensors in it,
// or whole tensors of which something is missing. `file` is where they were read.
void check_pieces(const transform::PieceTable& pieces, const ir::Module& module, const std::string& file);

}  // namespace pando::ranks
