// What a running kernel can ask about where it runs. `exec` sets it (per thread, and again when a fiber resumes); the functions
// of the PandoRuntime table (include/pando/device_runtime.h) read it. Every loaded module gets that table, see runtime_table().
#pragma once

#include <cstdint>
#include <string>

#include "pando/device_runtime.h"

namespace pando {

struct FiberTable;  // exec/fibers/fiber.h

// The vertex that a thread runs.
class RunningVertex {
 public:
  // What stands in front of a line that it prints: "[tile 3, worker 1, vertex 17 (Sum), compute set 'sum' (step c2)] "
  virtual std::string tag() const = 0;

 protected:
  ~RunningVertex() = default;
};

struct TileContext {
  char* base = nullptr;    // the tile's first byte on the host
  std::uint64_t size = 0;  // bytes of tile memory
  std::uint32_t tile = 0;  // TileId in the replica
  std::uint32_t replica = 0;
  std::uint32_t tiles = 0;                 // of the machine
  const std::uint64_t* globals = nullptr;  // [module] -> byte offset of its globals in the tile; ~0: none
  FiberTable* fibers = nullptr;            // this tile's suspended vertices
  std::uint64_t* cycle_counter = nullptr;  // this tile's counter behind cycle_count(); null: counts in this context
  std::uint64_t calls_of_cycle_count = 0;
  // Of checked code: the vertex that runs, none after a fiber has resumed; and where the last pointer was found (runtime/checked_access.h).
  const PandoCheckedVertex* checked = nullptr;
  const char* checked_vertex = nullptr;
  std::uint64_t checked_hint = 0;
  const RunningVertex* running = nullptr;  // whose name stands in front of lines that it prints; null: none does
};

// The calling thread's context. A function, not a variable: fibers migrate between threads, and a compiler may keep a
// thread-local's address across a call that switches threads.
TileContext& tile_context();

// The table handed to modules when they are loaded. `codelet` fills the entries that only read the context; `exec` sets the
// fiber entries before it runs anything.
PandoRuntime& runtime_table();

}  // namespace pando
