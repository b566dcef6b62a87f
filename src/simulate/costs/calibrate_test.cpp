#include "simulate/costs/calibrate.h"

#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <limits>
#include <string>
#include <vector>

namespace pando::simulate {
namespace {

TEST(Calibrate, ATimeIsMeasuredUntilTwoAgree) {
  const auto times = [](std::vector<double> given) {
    std::size_t taken = 0;
    const double best = agreed_seconds([&] { return given.at(taken++); });
    return std::pair(best, taken);
  };
  EXPECT_EQ(times({1, 1.1}), std::pair(1.0, std::size_t{2}));
  EXPECT_EQ(times({5, 1, 9, 0.9}), std::pair(0.9, std::size_t{4}));
  // Where none agree, the best after some.
  EXPECT_EQ(times({256, 128, 64, 32, 16, 8, 4, 2}), std::pair(2.0, std::size_t{8}));
}

TEST(Calibrate, WhatNoHostIsIsRejected) {
  Cluster host;
  host.single_operations = 1e11;
  host.memory_bytes_per_second = 4e10;
  host.levels = {{}};
  host.levels[0].latency = 1e-6;
  host.levels[0].bytes_per_second = 1e10;
  const auto rejected = [](const Cluster& c) {
    try {
      reject_implausible(c);
      return std::string();
    } catch (const poplar::poplar_error& e) { return std::string(e.what()); }
  };
  EXPECT_EQ(rejected(host), "");
  for (double wrong : {4.194304e15, 0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    Cluster c = host;
    c.levels[0].bytes_per_second = wrong;
    EXPECT_THAT(rejected(c), testing::HasSubstr("host is too busy")) << wrong;
    c = host;
    c.memory_bytes_per_second = wrong;
    EXPECT_THAT(rejected(c), testing::HasSubstr("memory of ")) << wrong;
  }
  host.levels[0].latency = 0.011;
  EXPECT_EQ(
      rejected(host),
      "a message of 1.1e+04 us; more than 0 and at most 10000 is plausible. The host is too busy to be measured: stop other programs, or "
      "give more --seconds [host-too-busy]");
}

}  // namespace
}  // namespace pando::simulate
