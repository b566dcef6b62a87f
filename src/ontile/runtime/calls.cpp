// Calls into the translated interpreter, its jumps, its traps and its view of the native stack.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/entry.h"
#include "runtime/imports.h"
#include "runtime/interpreter_c.h"
#include "runtime/python.h"

using Tile = TileInterpreter;

namespace {

static_assert(sizeof(Tile) <= PANDO_PYTHON_HEADER_OF_CALLER);
constexpr unsigned kPatience = 200;  // slices until C code that does not look for interrupts is ended

const char* text_of(trap why) {
  switch (why) {
    case TRAP_OOB: return "an access outside the tile's memory";
    case TRAP_STORE: return "a write to memory that is not Python's";
    case TRAP_INT_OVERFLOW: return "an integer overflow in C code";
    case TRAP_DIV_BY_ZERO: return "a division by zero in C code";
    case TRAP_INVALID_CONVERSION: return "an invalid conversion in C code";
    case TRAP_UNREACHABLE: return "a broken invariant of the interpreter";
    case TRAP_CALL_INDIRECT: return "a call of something that is no function";
    case TRAP_EXHAUSTION: return "a stack overflow in C code";
    case TRAP_FUEL: return "no fuel left";
    case TRAP_FATAL: break;
  }
  return "";
}

[[noreturn]] void end(Tile* tile) {
  PANDO_JUMP(tile->entry->trapped);
  __builtin_unreachable();
}

// Calls `function(tile)` with the header set; false if it trapped.
template <class Function>
__attribute__((noinline)) bool call_in(PandoPython& python, const Function& function) {
  if (python.size < MEMORY_BYTES) {
    std::snprintf(python.why, sizeof python.why, "a tile of %llu bytes is too small for an interpreter (%u bytes)",
                  static_cast<unsigned long long>(python.size), MEMORY_BYTES);
    return false;
  }
  Tile* const tile = reinterpret_cast<Tile*>(python.base);
  Entry entry;
  entry.python = &python;
  entry.outer = tile->entry;
  entry.stack_high = static_cast<char*>(__builtin_frame_address(0));
  entry.outer_stack_low = tile->stack_low;
  entry.outer_fuel = tile->fuel;
  entry.outer_stack_pointer = tile->stack_pointer;
  tile->entry = &entry;
  tile->stack_low = python.stack_low ? python.stack_low : entry.stack_high - 256 * 1024;
  tile->fuel = python.slice > 0 ? python.slice : PANDO_PYTHON_SLICE;
  bool whole = false;
  if (PANDO_SET_JUMP(entry.trapped) == 0) {
    function(tile);
    whole = true;
  }
  Entry& mine = *tile->entry;
  tile->stack_pointer = mine.outer_stack_pointer;
  tile->stack_low = mine.outer_stack_low;
  tile->fuel = mine.outer_fuel;
  tile->entry = mine.outer;
  return whole;
}

[[noreturn]] void no_room(Tile* tile, u32 bytes) {
  PandoPython& python = *tile->entry->python;
  std::snprintf(python.why, sizeof python.why, "no memory for %u bytes of source text", bytes);
  end(tile);
}

// Native bytes in the Python heap, with a zero behind them.
u32 copy_in(Tile* tile, const char* text, u32 bytes) {
  const u32 address = Z_pythonZ_py_allocate(tile, bytes + 1);
  if (!address) no_room(tile, bytes);
  char* const memory = span_to_write(tile, address, uint64_t{bytes} + 1);
  std::memcpy(memory, text, bytes);
  memory[bytes] = 0;
  return address;
}

template <class Function>
int with_name(PandoPython* python, const char* name, const Function& function) {
  const bool whole = call_in(*python, [&](Tile* tile) {
    const u32 bytes = static_cast<u32>(std::strlen(name));
    const u32 address = copy_in(tile, name, bytes);
    function(tile, address, bytes);
    Z_pythonZ_py_release(tile);
  });
  return whole ? 0 : PANDO_PYTHON_ENDED;
}

// Words of the native stack that may be addresses of the tile's heap: 32-bit ones as such, or native addresses into the tile.
__attribute__((noinline)) void scan(Tile* tile, const char* low, const char* high) {
  const auto base = reinterpret_cast<uintptr_t>(tile);
  const uint64_t size = MEMORY_BYTES;
  low = reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(low) & ~uintptr_t{7});
  for (const char* p = low; p < high; p += 4) {
    u32 word = 0;
    std::memcpy(&word, p, 4);
    if (word < size && word >= interpreter_image.data_begin) Z_pythonZ_py_gc_mark(tile, word);
    if ((p - low) % 8 != 0) continue;
    uint64_t wide = 0;
    std::memcpy(&wide, p, 8);
    if (wide - base < size) Z_pythonZ_py_gc_mark(tile, static_cast<u32>(wide - base));
  }
}

}  // namespace

extern "C" {

void pando_python_trap(Tile* tile, trap why) {
  PandoPython& python = *tile->entry->python;
  if (why != TRAP_FATAL) std::snprintf(python.why, sizeof python.why, "%s", text_of(why));
  end(tile);
}

PRESERVE_MOST u64 pando_python_check_store(Tile* tile, u64 address, u64 bytes) {
  if (address >= STACK_LOW && address + bytes <= OWN_END) return address;
  if (address < HEADER_BYTES || address + bytes > MEMORY_BYTES) pando_python_trap(tile, TRAP_OOB);
  const PandoPython& python = *tile->entry->python;
  if (python.write_begin == 0 && python.write_end == 0) return address;
  if (address < python.write_begin || address + bytes > python.write_end) pando_python_trap(tile, TRAP_STORE);
  return address;
}

void pando_python_out_of_fuel(Tile* tile) {
  tile->fuel = PANDO_PYTHON_SLICE;
  Entry& entry = *tile->entry;
  PandoPython& python = *entry.python;
  int asked = 0;
  if (python.host && python.host->poll)
    wait_in(tile, [&] { asked = python.host->poll(python.context, Z_pythonZ_py_holds_step(tile) == 0); });
  if (asked == 2) pando_python_trap(tile, TRAP_FUEL);
  if (asked == 3) {
    std::snprintf(python.why, sizeof python.why, "interrupted three times, it went on each time");
    end(tile);
  }
  if (asked == 1) {
    Z_pythonZ_py_interrupt(tile);
    if (entry.slices_since_interrupt == 0) entry.slices_since_interrupt = 1;
    return;
  }
  if (entry.slices_since_interrupt == 0) return;
  if (!Z_pythonZ_py_is_interrupted(tile)) {
    entry.slices_since_interrupt = 0;
    return;
  }
  if (++entry.slices_since_interrupt < kPatience) return;
  std::snprintf(python.why, sizeof python.why, "interrupted in C code that does not look for interrupts");
  end(tile);
}

// --- jumps ------------------------------------------------------------------------------------------------------------

// A called function either returns, or jumps back here: then the C stack is what it was, and the caller asks for __THREW__.
__attribute__((always_inline)) static inline void* target_of(Tile* tile, u32 function) {
  if (function - 1u >= interpreter_table_size) pando_python_trap(tile, TRAP_CALL_INDIRECT);
  return interpreter_table[function - 1u].function;
}

#define PANDO_CATCH(tile)                     \
  Entry* const entry = (tile)->entry;         \
  Catch here;                                 \
  here.outer = entry->innermost;              \
  here.stack_pointer = (tile)->stack_pointer; \
  entry->innermost = &here;

#define PANDO_CAUGHT(tile)                          \
  {                                                 \
    Catch* const caught = (tile)->entry->innermost; \
    (tile)->stack_pointer = caught->stack_pointer;  \
    (tile)->entry->innermost = caught->outer;       \
    Z_pythonZ_setThrew(tile, 1, 0);                 \
  }

#define PANDO_INVOKE(name, result, zero, parameters, types, arguments)                                             \
  __attribute__((noinline)) result Z_envZ_invoke_##name parameters {                                               \
    void* const target = target_of(tile, function);                                                                \
    PANDO_CATCH(tile)                                                                                              \
    if (PANDO_SET_JUMP(here.jump) == 0) { PANDO_CALL_##zero(reinterpret_cast<result(*) types>(target) arguments) } \
    PANDO_CAUGHT(tile)                                                                                             \
    PANDO_RETURN_##zero                                                                                            \
  }
#define PANDO_CALL_value(call)         \
  const u32 answer = call;             \
  tile->entry->innermost = here.outer; \
  return answer;
#define PANDO_CALL_nothing(call)       \
  call;                                \
  tile->entry->innermost = here.outer; \
  return;
#define PANDO_RETURN_value return 0;
#define PANDO_RETURN_nothing

PANDO_INVOKE(i, u32, value, (Tile * tile, u32 function), (Tile*), (tile))
PANDO_INVOKE(ii, u32, value, (Tile * tile, u32 function, u32 a), (Tile*, u32), (tile, a))
PANDO_INVOKE(iii, u32, value, (Tile * tile, u32 function, u32 a, u32 b), (Tile*, u32, u32), (tile, a, b))
PANDO_INVOKE(iiii, u32, value, (Tile * tile, u32 function, u32 a, u32 b, u32 c), (Tile*, u32, u32, u32), (tile, a, b, c))
PANDO_INVOKE(iiiii, u32, value, (Tile * tile, u32 function, u32 a, u32 b, u32 c, u32 d), (Tile*, u32, u32, u32, u32), (tile, a, b, c, d))
PANDO_INVOKE(iiiiii, u32, value, (Tile * tile, u32 function, u32 a, u32 b, u32 c, u32 d, u32 e), (Tile*, u32, u32, u32, u32, u32),
             (tile, a, b, c, d, e))
PANDO_INVOKE(v, void, nothing, (Tile * tile, u32 function), (Tile*), (tile))
PANDO_INVOKE(vi, void, nothing, (Tile * tile, u32 function, u32 a), (Tile*, u32), (tile, a))
PANDO_INVOKE(vii, void, nothing, (Tile * tile, u32 function, u32 a, u32 b), (Tile*, u32, u32), (tile, a, b))
PANDO_INVOKE(viii, void, nothing, (Tile * tile, u32 function, u32 a, u32 b, u32 c), (Tile*, u32, u32, u32), (tile, a, b, c))
PANDO_INVOKE(viiii, void, nothing, (Tile * tile, u32 function, u32 a, u32 b, u32 c, u32 d), (Tile*, u32, u32, u32, u32), (tile, a, b, c, d))

void Z_hostZ_throw(Tile* tile) {
  Catch* const target = tile->entry->innermost;
  if (!target) pando_python_trap(tile, TRAP_UNREACHABLE);
  PANDO_JUMP(target->jump);
}

// --- the native stack -------------------------------------------------------------------------------------------------

void Z_hostZ_scan_stack(Tile* tile) {
  SavedRegisters registers;
  save_registers(registers);
#ifdef PANDO_PYTHON_STRESS
  if (tile->entry->python->host && std::getenv("PANDO_PYTHON_SCANS_NOTHING")) return;  // it boots well, without a host
#endif
  // From the lowest of this function's own words: above them lie the registers that it saved on entry.
  scan(tile, reinterpret_cast<const char*>(&registers), tile->entry->stack_high);
  for (const Entry* e = tile->entry->outer; e; e = e->outer)
    if (e->parked) scan(tile, e->parked, e->stack_high);
}

// --- what codelets call -----------------------------------------------------------------------------------------------

uint64_t pando_python_heap_begin(void) {
  TileInterpreter nobody = {};  // the function only tells a constant, but checks the stack like all others
  return Z_pythonZ_py_heap_begin(&nobody);
}

const char* pando_python_version(void) { return interpreter_version; }

int pando_python_boot(PandoPython* python, uint32_t heap_bytes) {
  if (python->size < MEMORY_BYTES || pando_python_heap_begin() + heap_bytes > OWN_END) {
    std::snprintf(python->why, sizeof python->why, "a heap of %u bytes does not fit into %llu bytes of tile memory", heap_bytes,
                  static_cast<unsigned long long>(python->size));
    return PANDO_PYTHON_ENDED;
  }
  // A store of one byte is checked as one of eight is. A whole line: objects keep their places in lines, which bytecode's time depends on.
  constexpr u32 kUnused = 64;
  heap_bytes = std::min(heap_bytes, static_cast<u32>(OWN_END - kUnused - pando_python_heap_begin()));
  std::memset(python->base, 0, HEADER_BYTES);
  // The C stack is never read before it is written: its pages need not be there yet.
  std::memset(python->base + interpreter_image.stack_top, 0, pando_python_heap_begin() - interpreter_image.stack_top);
  std::memcpy(python->base + interpreter_image.data_begin, interpreter_image.data, interpreter_image.data_bytes);
  reinterpret_cast<Tile*>(python->base)->stack_pointer = interpreter_image.stack_top;
  const bool whole = call_in(*python, [&](Tile* tile) {
    Z_pythonZ___wasm_call_ctors(tile);
    Z_pythonZ_py_boot(tile, heap_bytes);
  });
  return whole ? 0 : PANDO_PYTHON_ENDED;
}

void pando_python_shut_down(PandoPython* python) {
  call_in(*python, [](Tile* tile) { Z_pythonZ_py_shut_down(tile); });
}

int pando_python_run(PandoPython* python, const char* source, uint32_t bytes, const char* name, uint32_t name_bytes, int kind) {
  int ending = PANDO_PYTHON_ENDED;
  call_in(*python, [&](Tile* tile) {
    const u32 text = Z_pythonZ_py_allocate(tile, bytes + 1 + name_bytes);
    if (!text) {
      ending = static_cast<int>(Z_pythonZ_py_no_room(tile, bytes));
      return;
    }
    char* const memory = span_to_write(tile, text, uint64_t{bytes} + 1 + name_bytes);
    std::memcpy(memory, source, bytes);
    memory[bytes] = 0;
    std::memcpy(memory + bytes + 1, name, name_bytes);
    const int answer = static_cast<int>(Z_pythonZ_py_run(tile, text, bytes, text + bytes + 1, name_bytes, static_cast<u32>(kind)));
    Z_pythonZ_py_release(tile);
    ending = answer;
  });
  return ending;
}

int pando_python_put(PandoPython* python, uint32_t offset, uint32_t whole, const char* text, uint32_t bytes) {
  const bool done = call_in(*python, [&](Tile* tile) {
    if (offset == 0) Z_pythonZ_py_release(tile);
    const u32 address = offset == 0 ? Z_pythonZ_py_allocate(tile, whole + 1) : Z_pythonZ_py_allocated(tile);
    if (!address) return;  // pando_python_run_put says so
    char* const memory = span_to_write(tile, address, uint64_t{whole} + 1);
    if (offset > whole || bytes > whole - offset) pando_python_trap(tile, TRAP_OOB);
    std::memcpy(memory + offset, text, bytes);
    memory[whole] = 0;
  });
  return done ? 0 : PANDO_PYTHON_ENDED;
}

int pando_python_run_put(PandoPython* python, uint32_t whole, const char* name, uint32_t name_bytes, int kind) {
  int ending = PANDO_PYTHON_ENDED;
  call_in(*python, [&](Tile* tile) {
    const u32 text = Z_pythonZ_py_allocated(tile);
    if (!text) {
      ending = static_cast<int>(Z_pythonZ_py_no_room(tile, whole));
      return;
    }
    const char* const memory = span_of(tile, text, 1);
    const u32 bytes = static_cast<u32>(strnlen(memory, MEMORY_BYTES - 1 - text));
    // The name takes the text's place in what is kept; the text stays reachable from this frame.
    const u32 name_at = copy_in(tile, name, name_bytes);
    const int answer = static_cast<int>(Z_pythonZ_py_run(tile, text, bytes, name_at, name_bytes, static_cast<u32>(kind)));
    Z_pythonZ_py_release(tile);
    ending = answer;
  });
  return ending;
}

int pando_python_flush(PandoPython* python) {
  return call_in(*python, [](Tile* tile) { Z_pythonZ_py_flush(tile); }) ? 0 : PANDO_PYTHON_ENDED;
}

int pando_python_finalise(PandoPython* python, int all) {
  return call_in(*python, [&](Tile* tile) { Z_pythonZ_py_finalise(tile, static_cast<u32>(all)); }) ? 0 : PANDO_PYTHON_ENDED;
}

int pando_python_exit_status(PandoPython* python) {
  int status = 0;
  call_in(*python, [&](Tile* tile) { status = static_cast<int>(Z_pythonZ_py_exit_status(tile)); });
  return status;
}

int pando_python_set_int(PandoPython* python, const char* name, int32_t value) {
  return with_name(python, name, [&](Tile* tile, u32 at, u32 bytes) { Z_pythonZ_py_set_int(tile, at, bytes, static_cast<u32>(value)); });
}
int pando_python_set_text(PandoPython* python, const char* name, uint32_t address, uint32_t count) {
  return with_name(python, name, [&](Tile* tile, u32 at, u32 bytes) { Z_pythonZ_py_set_text(tile, at, bytes, address, count); });
}
int pando_python_set_view(PandoPython* python, const char* name, uint32_t address, uint32_t elements, char type, int is_writable) {
  return with_name(python, name, [&](Tile* tile, u32 at, u32 bytes) {
    Z_pythonZ_py_set_view(tile, at, bytes, address, elements, static_cast<u32>(type), static_cast<u32>(is_writable));
  });
}
int pando_python_drop_views(PandoPython* python) {
  return call_in(*python, [](Tile* tile) { Z_pythonZ_py_drop_views(tile); }) ? 0 : PANDO_PYTHON_ENDED;
}
int pando_python_set_disk(PandoPython* python, uint32_t address, uint32_t blocks, uint32_t changed) {
  return call_in(*python, [&](Tile* tile) { Z_pythonZ_py_set_disk(tile, address, blocks, changed); }) ? 0 : PANDO_PYTHON_ENDED;
}

int pando_python_set_array(PandoPython* python, const char* name, uint32_t address, uint32_t elements, char type) {
  return with_name(python, name, [&](Tile* tile, u32 at, u32 bytes) {
    Z_pythonZ_py_set_array(tile, at, bytes, address, elements, static_cast<u32>(type));
  });
}

int pando_python_prompt(PandoPython* python) {
  return call_in(*python, [](Tile* tile) { Z_pythonZ_py_repl_start(tile); }) ? 0 : PANDO_PYTHON_ENDED;
}

int pando_python_key(PandoPython* python, int key) {
  u32 answer = 0;
  if (!call_in(*python, [&](Tile* tile) { answer = Z_pythonZ_py_repl_key(tile, static_cast<u32>(key)); })) return PANDO_PYTHON_ENDED;
  python->unsent = answer & 0x200 ? 1 : 0;
  return answer & 0x100 ? PANDO_PYTHON_EXITED : PANDO_PYTHON_DONE;
}

int pando_python_is_complete(PandoPython* python, const char* source, uint32_t bytes) {
  int answer = 1;
  call_in(*python, [&](Tile* tile) {
    answer = static_cast<int>(Z_pythonZ_py_is_complete(tile, copy_in(tile, source, bytes)));
    Z_pythonZ_py_release(tile);
  });
  return answer;
}

int pando_python_complete(PandoPython* python, const char* line, uint32_t bytes, char* insert, uint32_t capacity) {
  int answer = 0;
  call_in(*python, [&](Tile* tile) {
    // The line, its end, and where the answer's address goes.
    const u32 slot_offset = (bytes + 4) & ~u32{3};
    const u32 text = Z_pythonZ_py_allocate(tile, slot_offset + 4);
    if (!text) no_room(tile, bytes);
    char* const memory = span_to_write(tile, text, uint64_t{slot_offset} + 4);
    std::memset(memory + bytes, 0, slot_offset + 4 - bytes);
    std::memcpy(memory, line, bytes);
    const int found = static_cast<int>(Z_pythonZ_py_complete(tile, text, bytes, text + slot_offset));
    u32 at = 0;
    std::memcpy(&at, memory + slot_offset, 4);
    if (found > 0 && static_cast<u32>(found) <= capacity) {
      std::memcpy(insert, span_of(tile, at, static_cast<u32>(found)), static_cast<u32>(found));
      answer = found;
    }
    Z_pythonZ_py_release(tile);
  });
  return answer;
}

}  // extern "C"
