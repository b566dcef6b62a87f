// An end for calls that do not end.
#pragma once

#include <sys/time.h>
#include <unistd.h>

namespace pando::fuzz {

// From now on: a minute of the processor (SIGPROF), or ten minutes of waiting (SIGALRM). A busy machine ends nothing.
inline void limit_time() {
  const itimerval minute = {{0, 0}, {60, 0}};
  setitimer(ITIMER_PROF, &minute, nullptr);
  alarm(600);
}

}  // namespace pando::fuzz
