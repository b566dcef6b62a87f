#include "base/process/threads.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace pando {

unsigned thread_count(unsigned wanted) {
  constexpr unsigned kMost = 1024;
  if (wanted > 0) return wanted < kMost ? wanted : kMost;
  if (const char* text = std::getenv("PANDO_THREADS")) {
    unsigned n = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), n);
    if (*text != '\0' && (error != std::errc() || *end != '\0'))
      fail(ErrorKind::invalid_option, "threads", "PANDO_THREADS is '{}'; expected a number of threads", text);
    if (n > 0) return n < kMost ? n : kMost;
  }
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int n = CPU_COUNT(&set);
  return n > 0 ? static_cast<unsigned>(n) : 1;
}

static_assert(sizeof(std::atomic<std::uint32_t>) == 4);

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futex_wake_all(std::atomic<std::uint32_t>& word) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace pando
