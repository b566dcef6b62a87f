#include "ranks/board.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace pando::ranks {
namespace {

// mpirun asks all ranks to end as soon as one has ended with an error: also those that are about to end.
TEST(Board, a_signal_may_come_until_the_process_has_ended) {
  const auto end = [](RankState state) {
    {
      Board board;
      board.set_rank(0, getpid(), RankState::running);
      board.stop_on_signal(0);
      board.set_state(0, state);
    }
    std::raise(SIGTERM);
  };
  for (const RankState state : {RankState::failed, RankState::finished})
    EXPECT_EXIT(end(state), testing::ExitedWithCode(128 + SIGTERM), "");
}

TEST(Board, says_what_a_rank_was_doing) {
  Board board;
  EXPECT_EQ(board.describe(1), "before its first step");
  board.set_device(0, 1, 4);
  board.set_step(0, 7);
  EXPECT_EQ(board.describe(1), "device 4 in step 7, last operation: none yet");
  board.set_operation(0, "send 'x'");
  board.set_device(1, 1, 5);
  EXPECT_EQ(board.describe(1), "device 4 in step 7, last operation: send 'x'; device 5 in step 0, last operation: none yet");
  EXPECT_EQ(board.describe(0), "before its first step");
}

}  // namespace
}  // namespace pando::ranks
