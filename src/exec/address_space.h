// Anonymous memory of any size that costs nothing until it is touched.
#pragma once

#include <cstdint>

namespace pando::exec {

// Zeroed, lazily committed whole pages; null if the host has no such address space. munmap() gives it back.
//
// The low halves of the first four GiB's addresses are no small numbers, where the host has room to choose. An interpreter on a tile has
// pointers of 32 bits, which are numbers below a tile's size; its collector looks for them in every word of the native stack, where
// pointers into tiles and stacks lie as two words each. A low half that looked like one of its own would keep garbage alive, on some tile
// of some run.
char* map_lazily(std::uint64_t bytes);

// Less than all these low halves.
constexpr std::uint64_t kSmallNumbers = 16u << 20;

}  // namespace pando::exec
