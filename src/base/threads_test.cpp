#include "base/threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace pando {
namespace {

TEST(Threads, CountComesFromTheCallerTheEnvironmentOrTheHost) {
  ::setenv("PANDO_THREADS", "5", 1);
  EXPECT_EQ(thread_count(3), 3u);
  EXPECT_EQ(thread_count(0), 5u);
  for (const char* bad : {"0", "-1", "many", "2x", ""}) {
    ::setenv("PANDO_THREADS", bad, 1);
    EXPECT_GE(thread_count(0), 1u) << bad;
    EXPECT_LE(thread_count(0), std::max(1u, std::thread::hardware_concurrency())) << bad;
  }
  ::unsetenv("PANDO_THREADS");
}

TEST(Threads, WaitEndsWhenTheWordChanges) {
  std::atomic<std::uint32_t> word{0};
  std::thread other([&] {
    word.store(1);
    futex_wake_all(word);
  });
  while (word.load() == 0) futex_wait(word, 0);
  other.join();
  EXPECT_EQ(word.load(), 1u);
}

}  // namespace
}  // namespace pando
