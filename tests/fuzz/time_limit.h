// An end for calls that do not end.
#pragma once

#include <sys/time.h>
#include <unistd.h>

#include "base/sanitizers.h"

namespace pando::fuzz {

// From now on: a minute of the processor (SIGPROF), or ten minutes of waiting (SIGALRM); five times that under sanitizers. A busy machine
// ends nothing.
inline void limit_time() {
#if defined(PANDO_SANITIZED)
  constexpr int kMinutes = 5;
#else
  constexpr int kMinutes = 1;
#endif
  const itimerval limit = {{0, 0}, {60 * kMinutes, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(600 * kMinutes);
}

}  // namespace pando::fuzz
