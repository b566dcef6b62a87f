// What a team of threads needs from the host: how many processors, a pause in a spin loop, and blocking on a word.
#pragma once

#include <atomic>
#include <cstdint>

namespace pando {

// `wanted`, or if it is 0 the environment variable PANDO_THREADS, or if that is not set (or 0) the processors
// that this process may use. At least 1. Throws invalid_option if it is no number.
unsigned thread_count(unsigned wanted);

inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Blocks while `word` is `expected`; may return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected);
void futex_wake_all(std::atomic<std::uint32_t>& word);

}  // namespace pando
