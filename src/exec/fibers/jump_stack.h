// setjmp() and longjmp() of codelets, also into calls that an earlier compute step abandoned.
//
// On a tile a worker's stack lies at the same place in every compute set, and nothing clears it. Programs use that: a vertex leaves
// deep calls with longjmp(exit) and ends; a later vertex does longjmp(checkpoint), back into those calls, and the first vertex's
// compute() goes on below them:
//
//   step 1   compute() -> a() -> b(): setjmp(checkpoint), longjmp(exit)      compute() ends
//   step 2   compute() : longjmp(checkpoint)  ->  b(), then a(), then what follows a() in step 1's compute()
//
// So vertices that can jump run on a stack of their own, one per tile. A longjmp that abandons calls in which a setjmp was done
// keeps a copy of that part of the stack; a longjmp to there puts it back at the same addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/fibers/fiber.h"

namespace pando::exec {

struct JumpTarget {
  const void* environment = nullptr;  // the jmp_buf: only its address counts
  std::uint64_t activation = 0;       // of the vertex call that did the setjmp
  char* frame = nullptr;              // of the registers, on the stack
  std::vector<char> registers;        // what lies at `frame`
  std::vector<char> image;            // of the stack from `frame` on, if that was abandoned
};

struct JumpStack {
  explicit JumpStack(StackPool& stacks);
  ~JumpStack();
  JumpStack(const JumpStack&) = delete;
  JumpStack& operator=(const JumpStack&) = delete;

  Fiber fiber;
  StackPool& pool;
  std::uint64_t activation = 0;  // whose calls are on the stack now
  std::uint64_t activations = 0;
  std::vector<JumpTarget> targets;
  int (*function)(void*) = nullptr;
  void* argument = nullptr;
  int result = 1;
  const void* wanted = nullptr;  // by a longjmp: the environment
  int value = 0;
};

// Fills the jump entries of runtime_table(). Idempotent.
void install_jumps();

}  // namespace pando::exec
