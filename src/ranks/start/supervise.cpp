#include "ranks/start/supervise.h"

#include "base/error.h"
#include "base/messages.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace pando::ranks {

namespace {

std::atomic<pid_t> supervised{0};

void pass_on(int signal) {
  if (const pid_t child = supervised) kill(child, signal);
}

}  // namespace

int supervise(const Board& board, const std::function<int()>& rank) {
  std::fflush(nullptr);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail(ErrorKind::no_environment, "no-process", "cannot start a rank: {}", std::strerror(errno));
  if (child == 0) {
    // Who kills the process that MPI knows means the rank.
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(128 + SIGTERM);
    return rank();
  }
  supervised = child;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, pass_on);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const auto dead = board.rank_of_process(child);
  complain(fmt::format("pando run: {} died: {} ({})", dead ? fmt::format("rank {}", *dead) : "a rank",
                       dead ? board.describe(*dead) : "before its first step", strsignal(WTERMSIG(status))));
  return 128 + WTERMSIG(status);
}

}  // namespace pando::ranks
