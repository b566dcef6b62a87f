#include "exec/fibers/guard.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "codelet/code_ranges.h"
#include "codelet/runtime/tile_context.h"
#include "exec/fibers/exception_state.h"
#include "exec/fibers/fiber.h"

namespace pando::exec {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};

thread_local Guard* active __attribute__((tls_model("initial-exec"))) = nullptr;
std::array<struct sigaction, 64> previous;

// Of glibc: what the last failed assert() said, for debuggers.
struct AbortMessage {
  unsigned size;
  char text[1];
};
AbortMessage** abort_message = nullptr;

void take_abort_message(Guard& g) {
  g.words[0] = '\0';
  if (!abort_message || !*abort_message) return;
  const char* const text = (*abort_message)->text;
  std::size_t n = 0;
  for (; n + 1 < g.words.size() && text[n] != '\0' && text[n] != '\n'; ++n) g.words[n] = text[n];
  g.words[n] = '\0';
  *abort_message = nullptr;  // a later abort() is for something else
}

// By abort() of this thread; what somebody else sends is for the process.
bool aborts_itself(const siginfo_t& info) { return info.si_code == SI_TKILL && info.si_pid == getpid(); }

std::uintptr_t code_address(void* context) {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return machine.pc;
#endif
}

std::uintptr_t stack_address(void* context) {
  const auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
  return machine.sp;
#endif
}

// Where a function that has made no frame returns to, if a register says that.
std::uintptr_t return_address([[maybe_unused]] void* context) {
#if defined(__aarch64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.regs[30];
#else
  return 0;
#endif
}

// In a function of a library the codelet's code is what it returns to: the first such address on the stack, where that can be read.
std::uintptr_t codelet_code(const Guard& g, void* context) {
  const std::uintptr_t code = code_address(context);
  if (is_codelet_code(code)) return code;
  if (const std::uintptr_t back = return_address(context); is_codelet_code(back)) return back - 1;
  const auto here = reinterpret_cast<std::uintptr_t>(&g);
  const std::uintptr_t stack = stack_address(context) & ~std::uintptr_t{7};
  if (stack >= here || here - stack > (1u << 20)) return 0;  // another stack, or one that ran over
  for (std::uintptr_t at = stack; at + 8 <= here && at < stack + 4096; at += 8) {
    const std::uintptr_t word = *reinterpret_cast<const std::uintptr_t*>(at);
    if (is_codelet_code(word)) return word - 1;  // of the call
  }
  return 0;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  leave_codelet(signal, info, context);
  if (signal == kStopSignal && active) return;
  pass_on(signal, info, context);
}

}  // namespace

bool runs_codelets() { return active != nullptr; }

__attribute__((noinline)) bool run_guarded(Guard& guard, const std::atomic<bool>& ends, void (*body)(void*), void* argument) {
  guard.outer = active;
  guard.ends = &ends;
  auto& exceptions = *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
  const ExceptionState before = exceptions;
  if (sigsetjmp(guard.jump, 0) != 0) {
    active = guard.outer;
    *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals()) = before;
    return false;
  }
  active = &guard;
  try {
    body(argument);
  } catch (...) {
    active = guard.outer;
    throw;
  }
  active = guard.outer;
  return true;
}

void leave_codelet(int signal, siginfo_t* info, void* context) {
  Guard* const g = active;
  if (!g) return;
  if (signal == kStopSignal) {
    if (!g->ends->load() || !is_codelet_code(code_address(context))) return;  // not in the middle of malloc()
  } else if (signal == SIGABRT) {
    if (!aborts_itself(*info)) return;
    take_abort_message(*g);
  } else if (info->si_code <= 0) {
    return;  // sent by somebody
  }
  g->signal = signal;
  g->address = signal == SIGSEGV || signal == SIGBUS ? info->si_addr : nullptr;
  g->code = codelet_code(*g, context);
  siglongjmp(g->jump, 1);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[static_cast<std::size_t>(signal)];
  if ((before.sa_flags & SA_SIGINFO) && before.sa_sigaction) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  if (signal == kStopSignal || before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;  // returns to the fault, which then ends the process as it would have without us
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) raise(signal);
}

void install_fault_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
#ifdef __GLIBC__
    abort_message = static_cast<AbortMessage**>(dlvsym(RTLD_DEFAULT, "__abort_msg", "GLIBC_PRIVATE"));
#endif
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    for (const int signal : kFaults) {
      action.sa_sigaction = signal == SIGSEGV ? on_segment_fault : on_signal;
      sigaction(signal, &action, &previous[static_cast<std::size_t>(signal)]);
    }
    action.sa_sigaction = on_signal;
    sigaction(kStopSignal, &action, &previous[static_cast<std::size_t>(kStopSignal)]);
  });
}

}  // namespace pando::exec
