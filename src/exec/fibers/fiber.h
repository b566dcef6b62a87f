// Fibers: vertices that suspend at any depth of calls and go on in a later compute step, perhaps on another thread.
//
// A fiber is a function on a stack of its own. Switching is a call that saves the callee-saved registers on one stack and
// restores them from another. Each tile has a table of its fibers by slot; the executor runs all vertices of a tile that may use
// it on one thread at a time, so a table needs no lock. A dropped fiber is not unwound.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace pando::exec {

struct StackBounds {
  char* low = nullptr;   // the first usable byte, after the guard page
  char* high = nullptr;  // one past the last
};

// Stacks of one size from one lazily committed mapping, each with a guard page below it. Returned stacks are used again.
class StackPool {
 public:
  static constexpr std::size_t kStackBytes = 384 * 1024;
  StackPool();
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  // Throws application_runtime_error if the host has no address space left. Thread-safe.
  StackBounds take();
  void give_back(StackBounds stack);

 private:
  struct Segment {
    char* data;
    std::size_t stacks;
  };
  void add_segment();

  const std::uint64_t id_;  // no other pool of the process has or had it
  std::mutex mutex_;
  std::vector<Segment> segments_;
  std::size_t used_ = 0;  // of the last segment
  std::vector<StackBounds> free_;
};

struct Fiber {
  StackBounds stack;
  void* stack_pointer = nullptr;         // where it stopped
  void* caller_stack_pointer = nullptr;  // where who started or resumed it waits
  Fiber* parent = nullptr;               // the fiber that resumed it, or none
  void (*function)(void*) = nullptr;
  void* argument = nullptr;
  bool finished = false;
  bool overflowed = false;
  std::exception_ptr error;
  void* exception_state[2] = {nullptr, nullptr};  // the C++ runtime's per-thread state, which goes with the fiber
  void* sanitizer[3] = {nullptr, nullptr, nullptr};
  std::size_t caller_stack_bytes = 0;
};

}  // namespace pando::exec

namespace pando {

namespace exec {
struct JumpStack;  // exec/fibers/jump_stack.h
}

// The suspended vertices of one tile.
struct FiberTable {
  exec::StackPool* pool = nullptr;
  exec::Fiber* current = nullptr;          // running now, or none
  std::vector<exec::Fiber*> slots;         // null: free; each lies on its own stack
  std::shared_ptr<exec::JumpStack> jumps;  // made when it is first needed

  FiberTable() = default;
  FiberTable(FiberTable&&) = default;
  ~FiberTable() { drop_all(); }
  // Forgets all suspended fibers; their stacks go back to the pool.
  void drop_all();
};

}  // namespace pando

namespace pando::exec {

// Makes the fiber begin with its function when it is next entered.
void prepare_stack(Fiber& f);
// Goes on with the fiber until leave(); where it stopped inside set_jump(), that returns `value`.
void enter(FiberTable& table, Fiber& f, std::uintptr_t value = 0);
// Leaves the calling tile's fiber for who entered it.
void leave(Fiber& f);
// Throws what ended a finished fiber: stack overflow or an exception.
void throw_error_of(const Fiber& f);

// Fills the fiber entries of runtime_table(). Idempotent.
void install_fibers();
// The handler of SIGSEGV: a fiber that overflowed its stack ends, other faults of codelets end as guard.h says.
void on_segment_fault(int signal, siginfo_t* info, void* context);
// Lets a stack overflow or another fault end in application_runtime_error: call once per thread that runs vertices.
void prepare_thread_for_fibers();

}  // namespace pando::exec
