// Codelets that fault, or that do not end. A signal handler cannot throw, and codelets are no code to unwind through: so the handler jumps
// back to where the codelets were called.
#pragma once

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>

namespace pando::exec {

struct Guard {
  std::uint64_t at = 0;           // the vertex of the range that runs; kernels say it before each
  int signal = 0;                 // what ended it: of a fault, or kStopSignal
  const void* address = nullptr;  // that was not there
  std::uintptr_t code = 0;        // where in a codelet's code; 0: nobody knows
  std::array<char, 400> words;    // of SIGABRT: what abort() was called for, as of a failed assert(); empty: the C library does not say

  // Of run_guarded.
  Guard* outer = nullptr;
  const std::atomic<bool>* ends = nullptr;
  sigjmp_buf jump;
};

constexpr int kStopSignal = SIGURG;  // nobody needs it, and it is ignored by who does not handle it

// Runs `body(argument)`. False if it faulted or called abort(), or if `ends` became true and the thread got kStopSignal in a codelet's
// code: then it was left where it was, and what it had is not cleaned up. Exceptions pass.
bool run_guarded(Guard& guard, const std::atomic<bool>& ends, void (*body)(void*), void* argument);

// In a handler of signals: does not return if the thread runs codelets that the signal is for.
void leave_codelet(int signal, siginfo_t* info, void* context);
bool runs_codelets();

// Handlers of the signals of faults and of kStopSignal, once in a process; what was there before is called for what is no codelet's.
void install_fault_handlers();
// What an earlier handler, or the system, does with the signal.
void pass_on(int signal, siginfo_t* info, void* context);

}  // namespace pando::exec
