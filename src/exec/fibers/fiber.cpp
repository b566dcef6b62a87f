#include "exec/fibers/fiber.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/sanitizers.h"
#include "codelet/foreign_call.h"
#include "codelet/runtime/tile_context.h"
#include "exec/address_space.h"
#include "exec/fibers/exception_state.h"
#include "exec/fibers/guard.h"
#include "exec/fibers/jump_stack.h"

// pando_switch_stack(save, load, value): saves the callee-saved state on this stack, its pointer to *save, and goes on where `load`
// points; there the call returns `value`. pando_fiber_entry: the first return address of a fiber; calls register 2 with register 1 as its
// argument.
extern "C" void pando_switch_stack(void** save, void* load, std::uintptr_t value);
extern "C" void pando_fiber_entry();

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl pando_switch_stack
.hidden pando_switch_stack
.type pando_switch_stack,@function
pando_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  movq %rdx, %rax
  ldmxcsr (%rsp)
  fldcw 4(%rsp)
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size pando_switch_stack,.-pando_switch_stack
.globl pando_fiber_entry
.hidden pando_fiber_entry
.type pando_fiber_entry,@function
pando_fiber_entry:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size pando_fiber_entry,.-pando_fiber_entry
)");
#elif defined(__aarch64__)
asm(R"(
.text
.p2align 4
.globl pando_switch_stack
.hidden pando_switch_stack
.type pando_switch_stack,%function
pando_switch_stack:
  sub sp, sp, #176
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  mov x0, x2
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #176
  ret
.size pando_switch_stack,.-pando_switch_stack
.globl pando_fiber_entry
.hidden pando_fiber_entry
.type pando_fiber_entry,%function
pando_fiber_entry:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x19
  blr x20
  brk #1
  .cfi_endproc
.size pando_fiber_entry,.-pando_fiber_entry
)");
#else
#error "fibers need a stack switch for this processor"
#endif

namespace pando::exec {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr unsigned kMostSlots = 1u << 16;

// Linux 6.13: guard pages that cost no map. Older: mprotect, as long as the process has maps left.
constexpr int kGuardInstall = 102;
constexpr std::size_t kMostProtected = 16384;

// Emulators of processors (qemu-user) take an advice that they do not know for granted. A page that is guarded cannot be read by the kernel
// either.
bool is_guarded(const char* page) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return true;
  const bool is_guarded = write(ends[1], page, 1) == -1 && errno == EFAULT;
  close(ends[0]);
  close(ends[1]);
  return is_guarded;
}

void install_guard(char* page, std::size_t index) {
  static std::atomic<bool> advises{true};
  if (advises && madvise(page, kGuardBytes, kGuardInstall) == 0) {
    static const bool is_true = is_guarded(page);
    if (is_true) return;
  }
  advises = false;
  if (index < kMostProtected) mprotect(page, kGuardBytes, PROT_NONE);
}

}  // namespace

namespace {

// A fiber that returns at once gives back the stack that the next one takes: that one stays with the thread, without a lock.
struct KeptStack {
  std::uint64_t pool = 0;  // 0: none
  StackBounds stack;
};
thread_local KeptStack kept __attribute__((tls_model("initial-exec")));
std::atomic<std::uint64_t> pools{0};

}  // namespace

StackPool::StackPool() : id_(++pools) {}

void StackPool::add_segment() {
  for (std::size_t stacks = 1u << 16; stacks >= 16; stacks /= 4) {
    char* const p = map_lazily(stacks * (kStackBytes + kGuardBytes));
    if (!p) continue;
    segments_.push_back({p, stacks});
    used_ = 0;
    return;
  }
  fail(ErrorKind::application_runtime_error, "fiber-stacks", "the host has no address space for another fiber's stack");
}

StackBounds StackPool::take() {
  if (kept.pool == id_) {
    kept.pool = 0;
    return kept.stack;
  }
  const std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    const StackBounds stack = free_.back();
    free_.pop_back();
    return stack;
  }
  if (segments_.empty() || used_ == segments_.back().stacks) add_segment();
  char* const guard = segments_.back().data + used_ * (kStackBytes + kGuardBytes);
  install_guard(guard, used_++);
  return {guard + kGuardBytes, guard + kGuardBytes + kStackBytes};
}

void StackPool::give_back(StackBounds stack) {
  if (kept.pool == 0) {
    kept = {id_, stack};
    return;
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(stack);
}

StackPool::~StackPool() {
  if (kept.pool == id_) kept.pool = 0;
  for (const Segment& s : segments_) munmap(s.data, s.stacks * (kStackBytes + kGuardBytes));
}

namespace {

// A fiber that suspends in a catch block takes its exceptions along.
void swap_exception_state(ExceptionState& of_thread, Fiber& f) {
  void* const caught = of_thread.caught;
  const unsigned uncaught = of_thread.uncaught;
  of_thread.caught = f.exception_state[0];
  of_thread.uncaught = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(f.exception_state[1]));
  f.exception_state[0] = caught;
  f.exception_state[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(uncaught));
}

// A fiber lies at the top of its own stack: starting one asks for no memory, and finds it where the last one was.
constexpr std::size_t kFiberBytes = (sizeof(Fiber) + 63) / 64 * 64;

Fiber* make_fiber(StackPool& pool) {
  const StackBounds whole = pool.take();
  char* const top = whole.high - kFiberBytes;
  Fiber* const fiber = new (top) Fiber;
  fiber->stack = {whole.low, top};
  return fiber;
}

void drop_fiber(StackPool& pool, Fiber* fiber) {
  const StackBounds whole{fiber->stack.low, fiber->stack.high + kFiberBytes};
#if defined(PANDO_TSAN)
  if (fiber->sanitizer[0]) __tsan_destroy_fiber(fiber->sanitizer[0]);
#endif
  fiber->~Fiber();
  pool.give_back(whole);
}

}  // namespace

void leave(Fiber& f) {
  FiberTable& table = *tile_context().fibers;
  table.current = f.parent;
#if defined(PANDO_ASAN)
  __sanitizer_start_switch_fiber(f.finished ? nullptr : &f.sanitizer[0], f.sanitizer[1], f.caller_stack_bytes);
#endif
#if defined(PANDO_TSAN)
  __tsan_switch_to_fiber(f.sanitizer[1], 0);
#endif
  pando_switch_stack(&f.stack_pointer, f.caller_stack_pointer, 0);
#if defined(PANDO_ASAN)
  __sanitizer_finish_switch_fiber(f.sanitizer[0], const_cast<const void**>(&f.sanitizer[1]), &f.caller_stack_bytes);
#endif
}

namespace {

// The bottom of every fiber's stack. No exception crosses it. A jump may end it twice (jump_stack.h): no frame of a sanitizer's own.
extern "C" __attribute__((no_sanitize("address"))) PANDO_CALLS_CODELETS void pando_fiber_main(void* fiber) {
  Fiber& f = *static_cast<Fiber*>(fiber);
#if defined(PANDO_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, const_cast<const void**>(&f.sanitizer[1]), &f.caller_stack_bytes);
#endif
  try {
    f.function(f.argument);
  } catch (...) { f.error = std::current_exception(); }
  f.finished = true;
  leave(f);
  check_failed(__FILE__, __LINE__, "a finished fiber was resumed");
}

}  // namespace

// The saved state that pando_switch_stack restores when the fiber first runs.
void prepare_stack(Fiber& f) {
  auto* top = reinterpret_cast<std::uint64_t*>(f.stack.high);
#if defined(__x86_64__)
  top -= 10;  // mxcsr and x87 word, r15 r14 r13 r12 rbx rbp, return address, two words so that the entry is aligned
  std::memset(top, 0, 80);
  std::uint32_t mxcsr = 0;
  std::uint16_t x87 = 0;
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
  top[0] = mxcsr | static_cast<std::uint64_t>(x87) << 32;
  top[3] = reinterpret_cast<std::uint64_t>(&pando_fiber_main);
  top[4] = reinterpret_cast<std::uint64_t>(&f);
  top[7] = reinterpret_cast<std::uint64_t>(&pando_fiber_entry);
#else
  top -= 22;
  std::memset(top, 0, 176);
  top[0] = reinterpret_cast<std::uint64_t>(&f);
  top[1] = reinterpret_cast<std::uint64_t>(&pando_fiber_main);
  top[11] = reinterpret_cast<std::uint64_t>(&pando_fiber_entry);
#endif
  f.stack_pointer = top;
}

void enter(FiberTable& table, Fiber& f, std::uintptr_t value) {
  f.parent = table.current;
  table.current = &f;
  // Who enters a fiber comes back on the same thread.
  auto& exceptions = *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  swap_exception_state(exceptions, f);
#if defined(PANDO_ASAN)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, f.stack.low, static_cast<std::size_t>(f.stack.high - f.stack.low));
#endif
#if defined(PANDO_TSAN)
  if (!f.sanitizer[0]) f.sanitizer[0] = __tsan_create_fiber(0);
  f.sanitizer[1] = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(f.sanitizer[0], 0);
#endif
  pando_switch_stack(&f.caller_stack_pointer, f.stack_pointer, value);
#if defined(PANDO_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  swap_exception_state(exceptions, f);
}

void throw_error_of(const Fiber& f) {
  if (f.overflowed)
    fail(ErrorKind::application_runtime_error, "fiber-stack-overflow",
         "tile {}: a resumable vertex used more than the {} bytes of its stack", tile_context().tile, StackPool::kStackBytes);
  if (f.error) std::rethrow_exception(f.error);
}

namespace {

struct Finished {
  Finished(StackPool& p, Fiber* f) : pool(p), fiber(f) {}
  ~Finished() { drop_fiber(pool, fiber); }
  StackPool& pool;
  Fiber* const fiber;
};

// Runs the fiber until it suspends (0) or returns (1).
int enter(FiberTable& table, unsigned slot) {
  enter(table, *table.slots[slot]);
  if (!table.slots[slot]->finished) return 0;
  const Finished finished(*table.pool, std::exchange(table.slots[slot], nullptr));
  throw_error_of(*finished.fiber);
  return 1;
}

int fiber_start(unsigned slot, void (*function)(void*), void* argument) {
  FiberTable* const table = tile_context().fibers;
  if (!table || slot >= kMostSlots || !function) return -1;
  if (slot >= table->slots.size()) table->slots.resize(slot + 1);
  if (table->slots[slot]) return -1;
  Fiber* const fiber = make_fiber(*table->pool);
  fiber->function = function;
  fiber->argument = argument;
  prepare_stack(*fiber);
  table->slots[slot] = fiber;
  return enter(*table, slot);
}

int fiber_suspended(unsigned slot) {
  const FiberTable* const table = tile_context().fibers;
  if (!table || slot >= table->slots.size() || !table->slots[slot]) return 0;
  for (const Fiber* f = table->current; f; f = f->parent)
    if (f == table->slots[slot]) return 0;  // running
  return 1;
}

int fiber_resume(unsigned slot) { return fiber_suspended(slot) ? enter(*tile_context().fibers, slot) : -1; }

void suspend() {
  FiberTable* const table = tile_context().fibers;
  if (!table || !table->current)
    fail(ErrorKind::application_runtime_error, "suspend-outside-fiber",
         "tile {}: suspend() outside a fiber; only code that fiber_start() began can suspend", tile_context().tile);
  leave(*table->current);
}

// Stack overflow. The handler runs on the thread's signal stack; it cannot throw, so it lets the fiber go on in `abandon`, at
// the top of its own stack, which nothing needs any more.
void abandon() {
  Fiber& f = *tile_context().fibers->current;
  f.finished = true;
  f.overflowed = true;
  leave(f);
}

bool end_overflowed_fiber(siginfo_t* info, void* context) {
  FiberTable* const table = runs_codelets() ? tile_context().fibers : nullptr;
  Fiber* const f = table ? table->current : nullptr;
  const char* const address = static_cast<const char*>(info->si_addr);
  if (!f || address < f->stack.low - kGuardBytes || address >= f->stack.low) return false;
  auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  machine->gregs[REG_RSP] = reinterpret_cast<greg_t>(f->stack.high - 136);  // aligned as after a call
  machine->gregs[REG_RIP] = reinterpret_cast<greg_t>(&abandon);
#else
  machine->sp = reinterpret_cast<std::uint64_t>(f->stack.high - 128);
  machine->pc = reinterpret_cast<std::uint64_t>(&abandon);
#endif
  return true;
}

// The signal stack of one thread.
struct SignalStack {
  SignalStack() {
    stack_t old = {};
    if (sigaltstack(nullptr, &old) == 0 && !(old.ss_flags & SS_DISABLE)) return;  // the thread has one
    bytes = std::make_unique<char[]>(kBytes);
    stack_t mine = {};
    mine.ss_sp = bytes.get();
    mine.ss_size = kBytes;
    sigaltstack(&mine, nullptr);
  }
  ~SignalStack() {
    if (!bytes) return;
    stack_t off = {};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
  }
  static constexpr std::size_t kBytes = 64 * 1024;
  std::unique_ptr<char[]> bytes;
};

}  // namespace

void on_segment_fault(int signal, siginfo_t* info, void* context) {
  if (end_overflowed_fiber(info, context)) return;
  leave_codelet(signal, info, context);
  pass_on(signal, info, context);
}

void prepare_thread_for_fibers() {
  install_fault_handlers();
  static thread_local SignalStack stack;
}

void install_fibers() {
  PandoRuntime& table = runtime_table();
  table.fiber_start = fiber_start;
  table.fiber_resume = fiber_resume;
  table.fiber_suspended = fiber_suspended;
  table.suspend = suspend;
  install_jumps();
}

}  // namespace pando::exec

void pando::FiberTable::drop_all() {
  for (exec::Fiber* const fiber : slots)
    if (fiber) exec::drop_fiber(*pool, fiber);
  slots.clear();
  jumps.reset();
  current = nullptr;
}
