#include "codelet/runtime/tile_context.h"

#include "base/check.h"
#include "base/error.h"
#include "codelet/runtime/checked_access.h"
#include "codelet/runtime/prints.h"
#include "codelet/runtime/worker_memory.h"

namespace pando {

namespace {

thread_local TileContext context_of_thread __attribute__((tls_model("initial-exec")));  // small enough for libraries that are loaded late

// For functions that nothing is inlined into and that switch no threads: they are called at every step of every tile.
TileContext& current() { return context_of_thread; }

char* tile_base() { return current().base; }
unsigned long long tile_size() { return current().size; }
unsigned tile_id() { return current().tile; }
unsigned tile_count() { return current().tiles; }
unsigned replica_id() { return current().replica; }

void* tile_globals(unsigned module) {
  const TileContext& context = current();
  PANDO_CHECK(context.globals != nullptr && context.globals[module] != ~std::uint64_t{0});
  return context.base + context.globals[module];
}

void trap(const char* message) {
  fail(ErrorKind::application_runtime_error, "trap", "tile {}: {}", tile_context().tile, message ? message : "trap");
}

unsigned long long cycle_count() {
  TileContext& context = tile_context();
  if (context.cycle_counter != nullptr) return ++*context.cycle_counter;
  return ++context.calls_of_cycle_count;
}

// Outside exec there are no fibers: misuse.
int no_fiber_start(unsigned, void (*)(void*), void*) { return -1; }
int no_fiber(unsigned) { return -1; }
int run_directly(int (*function)(void*), void* argument) { return function(argument); }
int no_set_jump(void*) {
  fail(ErrorKind::application_runtime_error, "jump-without-stack", "tile {}: setjmp() outside an engine", tile_context().tile);
}
void no_jump(void*, int) { no_set_jump(nullptr); }
void no_suspend() {
  fail(ErrorKind::application_runtime_error, "suspend-without-fiber", "tile {}: suspend() outside a fiber", tile_context().tile);
}

}  // namespace

// noinline: a caller must not keep the address across a call that switches threads.
__attribute__((noinline)) TileContext& tile_context() {
  asm volatile("");
  return context_of_thread;
}

PandoRuntime& runtime_table() {
  static PandoRuntime table = {1,
                               tile_base,
                               tile_size,
                               tile_id,
                               tile_count,
                               replica_id,
                               tile_globals,
                               no_fiber_start,
                               no_fiber,
                               no_fiber,
                               no_suspend,
                               trap,
                               cycle_count,
                               run_directly,
                               no_set_jump,
                               no_jump,
                               checked_vertex,
                               checked_range,
                               checked_access,
                               checked_index,
                               print,
                               print_all,
                               print_to,
                               print_line,
                               print_char,
                               print_all_to,
                               print_text_to,
                               print_char_to,
                               begin_worker,
                               end_worker,
                               worker_address,
                               tile_address,
                               host_address};
  return table;
}

}  // namespace pando
