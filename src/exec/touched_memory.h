// How much of the tiles' memory a program makes the host keep.
#pragma once

#include <cstdint>

#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

// Bytes of all pages of one replica's tiles that the program's moves, initial values and vertices write, each page once.
//
// What a codelet does within a range that it reserves (include/pando/tile.hpp) only the run can tell: an interpreter's 400 KiB become real
// page by page. Such ranges, their images, and what these codelets may write are left out, and so are code and stacks, which are figures of
// the machine that the host never fills.
std::uint64_t touched_bytes(const tile::Program& program, const Library& library);

// The same from the list of allocations, quickly: never less.
std::uint64_t touched_bytes_at_most(const tile::Program& program);

}  // namespace pando::exec
