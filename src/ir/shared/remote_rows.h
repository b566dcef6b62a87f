// What the rows about remote buffers share.
#pragma once

#include "ir/rows/define.h"

namespace pando::ir {

inline BufferId buffer_of(const Attributes& a) { return std::get<BufferId>(*a.find("buffer")); }

// The type of a row of the buffer in attribute "buffer".
Type remote_row_type(const Inference& in);
// Rejects (popart) an operand that is no scalar.
void check_remote_offset(const Inference& in, std::size_t operand);
// Rejects (popart) an operand that is no row of the buffer.
void check_remote_row(const Inference& in, std::size_t operand);

}  // namespace pando::ir
