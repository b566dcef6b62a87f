// One call of an interpreter from native code, and what the collector has to know of it.
#pragma once

#include <cstdint>

#include "runtime/interpreter_c.h"
#include "runtime/python.h"

// A jump within one native stack. The built-in form saves three words and costs a few ns; not every target has it.
#if defined(__x86_64__)
using Jump = void* [5];
#define PANDO_SET_JUMP(jump) __builtin_setjmp(jump)
#define PANDO_JUMP(jump) __builtin_longjmp(jump, 1)
#else
#include <csetjmp>
using Jump = jmp_buf;
#define PANDO_SET_JUMP(jump) _setjmp(jump)
#define PANDO_JUMP(jump) _longjmp(jump, 1)
#endif

// A call of an interpreter's function that may end in a longjmp.
struct Catch {
  Jump jump;
  Catch* outer;
  u32 stack_pointer;
};

struct Entry {
  PandoPython* python;
  Entry* outer;  // the call that waits in a function of the host while this one runs
  Catch* innermost = nullptr;
  char* stack_high;        // the native stack of this call
  char* parked = nullptr;  // where it waits, if it does: all registers are saved above
  char* outer_stack_low;
  int64_t outer_fuel;
  u32 outer_stack_pointer;
  unsigned slices_since_interrupt = 0;  // 0: none was asked for
  Jump trapped;
};

// Callee-saved registers: compiled code may keep the only copy of an address in one.
#if defined(__x86_64__)
struct SavedRegisters {
  uint64_t words[6];
};
__attribute__((always_inline)) inline void save_registers(SavedRegisters& to) {
  asm volatile(
      "movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%r12, 16(%0)\n\tmovq %%r13, 24(%0)\n\tmovq %%r14, 32(%0)\n\tmovq %%r15, 40(%0)"
      :
      : "r"(&to)
      : "memory");
}
#elif defined(__aarch64__)
struct SavedRegisters {
  uint64_t words[12];
};
__attribute__((always_inline)) inline void save_registers(SavedRegisters& to) {
  asm volatile(
      "stp x19, x20, [%0]\n\tstp x21, x22, [%0, 16]\n\tstp x23, x24, [%0, 32]\n\tstp x25, x26, [%0, 48]\n\tstp x27, x28, [%0, 64]\n\tstp "
      "x29, x30, "
      "[%0, 80]"
      :
      : "r"(&to)
      : "memory");
}
#else
#error "the collector needs to see this processor's callee-saved registers"
#endif

// Calls a function of the host that may suspend the fiber. Registers are saved in this frame, for collections meanwhile.
template <class Function>
__attribute__((noinline)) void wait_in(TileInterpreter* tile, const Function& function) {
  SavedRegisters registers;
  save_registers(registers);
  Entry& entry = *tile->entry;
  char* const outer = entry.parked;
  entry.parked = reinterpret_cast<char*>(&registers);
  function();
  tile->entry->parked = outer;
}

// [address, address + bytes) of the tile's memory as native bytes; ends the interpreter if they are not all there. The interpreter's own
// memory may have been destroyed: no address that it tells is used without this.
inline const char* span_of(TileInterpreter* tile, u32 address, uint64_t bytes) {
  if (bytes > 0 && (address < HEADER_BYTES || address + bytes > MEMORY_BYTES)) pando_python_trap(tile, TRAP_OOB);
  return reinterpret_cast<const char*>(tile) + address;
}
inline char* span_to_write(TileInterpreter* tile, u32 address, uint64_t bytes) {
  return reinterpret_cast<char*>(tile) + (bytes > 0 ? pando_python_check_store(tile, address, bytes) : address);
}
