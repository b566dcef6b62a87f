#include "ranks/start/end_with.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace pando::ranks {
namespace {

using namespace std::chrono_literals;

// A process that does nothing but end with another one.
pid_t follower_of(pid_t process, bool deaf) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (deaf) std::signal(SIGTERM, SIG_IGN);
  end_with(process);
  for (;;) pause();
}

bool ends_within(pid_t process, std::chrono::seconds time) {
  const auto begin = std::chrono::steady_clock::now();
  while (waitpid(process, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() - begin > time) return kill(process, SIGKILL), waitpid(process, nullptr, 0), false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

TEST(EndWith, AProcessEndsWithOneThatIsNotItsParent) {
  for (const bool deaf : {false, true}) {
    const pid_t first = fork();
    if (first == 0) {
      for (;;) pause();
    }
    const pid_t second = follower_of(first, deaf);
    std::this_thread::sleep_for(200ms);
    EXPECT_EQ(waitpid(second, nullptr, WNOHANG), 0) << "it has ended alone";
    kill(first, SIGKILL);
    waitpid(first, nullptr, 0);
    EXPECT_TRUE(ends_within(second, 10s)) << deaf;
  }
}

TEST(EndWith, AProcessThatHasEndedIsEndedWithAtOnce) {
  const pid_t first = fork();
  if (first == 0) _exit(0);
  waitpid(first, nullptr, 0);
  EXPECT_TRUE(ends_within(follower_of(first, true), 10s));
}

}  // namespace
}  // namespace pando::ranks
