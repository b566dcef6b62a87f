#include "base/process/threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "poplar/exceptions.hpp"

namespace pando {
namespace {

TEST(Threads, CountComesFromTheCallerTheEnvironmentOrTheHost) {
  ::setenv("PANDO_THREADS", "5", 1);
  EXPECT_EQ(thread_count(3), 3u);
  EXPECT_EQ(thread_count(0), 5u);
  for (const char* none : {"0", ""}) {
    ::setenv("PANDO_THREADS", none, 1);
    EXPECT_GE(thread_count(0), 1u) << none;
    EXPECT_LE(thread_count(0), std::max(1u, std::thread::hardware_concurrency())) << none;
  }
  for (const char* bad : {"abc", "-1", "2x", " 2", "99999999999999"}) {
    ::setenv("PANDO_THREADS", bad, 1);
    EXPECT_THROW(thread_count(0), poplar::invalid_option) << bad;
    EXPECT_EQ(thread_count(2), 2u);
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
