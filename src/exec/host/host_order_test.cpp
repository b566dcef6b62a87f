#include "exec/host/host_order.h"

#include <gtest/gtest.h>

namespace pando::exec {
namespace {

TEST(HostOrder, TheSmallestPositionGoesFirst) {
  HostOrder order;
  order.begin({true, true});
  EXPECT_EQ(order.enter(1, {5}), std::nullopt) << "slot 0 can still come to a smaller position";
  EXPECT_EQ(order.publish(0, {6}), 1u);
  EXPECT_EQ(order.enter(1, {5}), 1u);
  EXPECT_EQ(order.leave(1, {9}), std::nullopt);
  EXPECT_EQ(order.enter(0, {6}), 0u);
}

// Slot 0 did not see that anybody waits, so it published nothing before it came.
TEST(HostOrder, ASlotThatComesAfterAWaitingOneLetsItGo) {
  HostOrder order;
  order.begin({true, true});
  EXPECT_EQ(order.enter(1, {5}), std::nullopt);
  EXPECT_EQ(order.enter(0, {7}), 1u);
  EXPECT_EQ(order.enter(1, {5}), 1u);
  EXPECT_EQ(order.leave(1, {9}), 0u);
  EXPECT_EQ(order.enter(0, {7}), 0u);
}

TEST(HostOrder, AFinishedSlotHoldsNobodyUp) {
  HostOrder order;
  order.begin({true, true});
  EXPECT_EQ(order.enter(1, {5}), std::nullopt);
  EXPECT_EQ(order.finish(0), 1u);
}

}  // namespace
}  // namespace pando::exec
