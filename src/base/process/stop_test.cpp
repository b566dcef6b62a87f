#include "base/process/stop.h"

#include <gtest/gtest.h>

#include <thread>

namespace pando {
namespace {

TEST(Stop, EndsWhatLooksAtTheFlagOfItsThread) {
  EXPECT_NO_THROW(check_stop());
  std::atomic<bool> flag = false;
  {
    const StopScope scope(&flag);
    EXPECT_NO_THROW(check_stop());
    flag = true;
    EXPECT_THROW(check_stop(), Stopped);
    {
      const StopScope inner(nullptr);
      EXPECT_NO_THROW(check_stop());
    }
    EXPECT_EQ(stop_flag(), &flag);
    std::thread([] { EXPECT_NO_THROW(check_stop()); }).join();
  }
  EXPECT_NO_THROW(check_stop());
}

}  // namespace
}  // namespace pando
