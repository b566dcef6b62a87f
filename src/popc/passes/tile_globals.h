// Mutable globals and function statics of codelet code live in tile memory: one copy per tile.
//
//   static int n = 3; int f() { return n++; }      becomes
//   int f() { char* g = pando_runtime->tile_globals(pando_module_slot); return (*(int*)(g + 16))++; }
//
// All of them form one block; constants that point into it move too. `pando_initialise_globals(char* g)` writes the initial
// bytes of a copy and runs the dynamic initialisers. Variables of the C++ library's own headers (iostream's initialiser) stay
// shared. Destructors of moved variables never run.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>

namespace pando::popc {

struct TileGlobals {
  std::uint64_t size = 0;
  std::uint32_t align = 1;
};

// Throws std::runtime_error for thread_local variables.
TileGlobals move_globals_to_tiles(llvm::Module& module);

}  // namespace pando::popc
