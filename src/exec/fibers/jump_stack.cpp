#include "exec/fibers/jump_stack.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/sanitizers.h"
#include "codelet/foreign_call.h"
#include "codelet/runtime/tile_context.h"

// pando_set_jump(environment): saves the callee-saved state on this stack as pando_switch_stack does, and tells
// pando_record_jump(environment, that place), whose result it returns.
extern "C" int pando_set_jump(void* environment);
// Where a jump lands: calls pando_finish_jump(value) and returns its result from the set_jump() that is jumped to.
extern "C" void pando_land();

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.globl pando_set_jump
.hidden pando_set_jump
.type pando_set_jump,@function
pando_set_jump:
  .cfi_startproc
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  subq $8, %rsp
  .cfi_def_cfa_offset 64
  stmxcsr (%rsp)
  fnstcw 4(%rsp)
  movq %rsp, %rsi
  callq pando_record_jump
  addq $8, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
.size pando_set_jump,.-pando_set_jump
.globl pando_land
.hidden pando_land
.type pando_land,@function
pando_land:
  .cfi_startproc
  subq $8, %rsp
  .cfi_def_cfa_offset 16
  movq %rax, %rdi
  callq pando_finish_jump
  addq $8, %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
.size pando_land,.-pando_land
)");
#else
asm(R"(
.text
.p2align 4
.globl pando_set_jump
.hidden pando_set_jump
.type pando_set_jump,%function
pando_set_jump:
  .cfi_startproc
  sub sp, sp, #176
  .cfi_def_cfa_offset 176
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  .cfi_offset x30, -88
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x1, sp
  bl pando_record_jump
  ldp x29, x30, [sp, #80]
  add sp, sp, #176
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
.size pando_set_jump,.-pando_set_jump
.globl pando_land
.hidden pando_land
.type pando_land,%function
pando_land:
  .cfi_startproc
  sub sp, sp, #16
  .cfi_def_cfa_offset 16
  .cfi_offset x30, -16
  bl pando_finish_jump
  ldr x30, [sp]
  add sp, sp, #16
  .cfi_def_cfa_offset 0
  ret
  .cfi_endproc
.size pando_land,.-pando_land
)");
#endif

namespace pando::exec {
namespace {

#if defined(__x86_64__)
constexpr std::size_t kRegisterBytes = 64;  // with the return address
#else
constexpr std::size_t kRegisterBytes = 176;
#endif

constexpr std::size_t kManyTargets = 32;  // programs have two or three

[[noreturn]] void misuse(const char* what) { fail(ErrorKind::application_runtime_error, "jump", "tile {}: {}", tile_context().tile, what); }

// The stack of the tile's vertices that jump, if that is what runs now.
JumpStack* running() {
  FiberTable* const table = tile_context().fibers;
  JumpStack* const jumps = table ? table->jumps.get() : nullptr;
  return jumps && table->current == &jumps->fiber ? jumps : nullptr;
}

JumpTarget* find(JumpStack& jumps, const void* environment) {
  const auto at =
      std::find_if(jumps.targets.begin(), jumps.targets.end(), [&](const JumpTarget& t) { return t.environment == environment; });
  return at == jumps.targets.end() ? nullptr : &*at;
}

// Targets of vertex calls that have ended are gone, but for those of which a part of the stack was kept.
void forget_ended_targets(JumpStack& jumps) {
  std::vector<std::uint64_t> kept = {jumps.activation};
  for (const JumpTarget& t : jumps.targets)
    if (!t.image.empty()) kept.push_back(t.activation);
  std::erase_if(jumps.targets, [&](const JumpTarget& t) { return std::find(kept.begin(), kept.end(), t.activation) == kept.end(); });
}

extern "C" __attribute__((used, visibility("hidden"))) int pando_record_jump(void* environment, char* frame) {
  JumpStack* const jumps = running();
  if (!jumps) misuse("setjmp() on a fiber, or outside a vertex");
  JumpTarget* target = find(*jumps, environment);
  if (!target) {
    if (jumps->targets.size() >= kManyTargets) forget_ended_targets(*jumps);
    target = &jumps->targets.emplace_back();
  }
  *target = {environment, jumps->activation, frame, std::vector<char>(frame, frame + kRegisterBytes), {}};
  return 0;
}

extern "C" __attribute__((used, visibility("hidden"), no_sanitize("address"))) int pando_finish_jump(int value) {
#if defined(PANDO_ASAN)
  Fiber& f = tile_context().fibers->jumps->fiber;
  __sanitizer_finish_switch_fiber(f.sanitizer[0], const_cast<const void**>(&f.sanitizer[1]), &f.caller_stack_bytes);
#endif
  return value;
}

// Puts the registers where enter() loads them, so that it goes on in pando_land, and that returns to the target.
char* prepare_landing(const JumpTarget& target) {
  const auto land = reinterpret_cast<std::uintptr_t>(&pando_land);
#if defined(__x86_64__)
  char* const at = target.frame - 8;  // the target's return address stays where it is, behind pando_land's
  std::memcpy(at + kRegisterBytes, target.registers.data() + kRegisterBytes - 8, 8);
  std::memcpy(at, target.registers.data(), kRegisterBytes - 8);
  std::memcpy(at + kRegisterBytes - 8, &land, 8);
#else
  char* const at = target.frame;
  constexpr std::size_t kLink = 88, kFree = 160;
  std::memcpy(at, target.registers.data(), kRegisterBytes);
  std::memcpy(at + kFree, target.registers.data() + kLink, 8);
  std::memcpy(at + kLink, &land, 8);
#endif
  return at;
}

void jump(void* environment, int value) {
  JumpStack* const jumps = running();
  if (!jumps) misuse("longjmp() on a fiber, or outside a vertex");
  jumps->wanted = environment;
  jumps->value = value == 0 ? 1 : value;  // as C has it
  leave(jumps->fiber);
}

// The stack was left inside jump(): makes it what the wanted target needs. This thread stands on another stack.
void rearrange(JumpStack& jumps) {
  Fiber& f = jumps.fiber;
  JumpTarget* const target = find(jumps, std::exchange(jumps.wanted, nullptr));
  const auto on_stack = [&](const JumpTarget& t) {
    return t.activation == jumps.activation && t.image.empty() && t.frame >= static_cast<char*>(f.stack_pointer);
  };
  if (target && !target->image.empty()) {
    std::memcpy(target->frame, target->image.data(), target->image.size());
    jumps.activation = target->activation;
    target->image.clear();
  } else if (target && on_stack(*target)) {
    for (JumpTarget& t : jumps.targets)
      if (t.frame < target->frame && on_stack(t)) t.image.assign(t.frame, f.stack.high);
  } else {
    misuse("longjmp() to where no setjmp() was done, or into a function that has returned");
  }
  f.stack_pointer = prepare_landing(*target);
}

PANDO_CALLS_CODELETS void body(void* argument) {
  JumpStack& jumps = *static_cast<JumpStack*>(argument);
  jumps.result = jumps.function(jumps.argument);
}

// Sanitizers mark parts of frames; frames that are put back, or left without returning, would keep old marks.
void clear_marks([[maybe_unused]] const Fiber& f) {
#if defined(PANDO_ASAN)
  __asan_unpoison_memory_region(f.stack.low, static_cast<std::size_t>(f.stack.high - f.stack.low));
#endif
}

int run_jumping(int (*function)(void*), void* argument) {
  FiberTable* const table = tile_context().fibers;
  if (!table) return function(argument);
  if (!table->jumps) table->jumps = std::make_shared<JumpStack>(*table->pool);
  JumpStack& jumps = *table->jumps;
  PANDO_CHECK(!running());
  Fiber& f = jumps.fiber;
  jumps.function = function;
  jumps.argument = argument;
  jumps.activation = ++jumps.activations;
  f.finished = f.overflowed = false;
  f.error = nullptr;
  clear_marks(f);
  prepare_stack(f);
  for (int value = 0;;) {
    enter(*table, f, static_cast<std::uintptr_t>(value));
    if (f.finished) break;
    if (!jumps.wanted) misuse("suspend() outside a fiber; only code that fiber_start() began can suspend");
    clear_marks(f);
    rearrange(jumps);
    value = jumps.value;
  }
  throw_error_of(f);
  return jumps.result;
}

}  // namespace

JumpStack::JumpStack(StackPool& stacks) : pool(stacks) {
  fiber.stack = pool.take();
  fiber.function = body;
  fiber.argument = this;
}

JumpStack::~JumpStack() {
#if defined(PANDO_TSAN)
  if (fiber.sanitizer[0]) __tsan_destroy_fiber(fiber.sanitizer[0]);
#endif
  pool.give_back(fiber.stack);
}

void install_jumps() {
  PandoRuntime& table = runtime_table();
  table.run_jumping = run_jumping;
  table.set_jump = pando_set_jump;
  table.jump = jump;
}

}  // namespace pando::exec
