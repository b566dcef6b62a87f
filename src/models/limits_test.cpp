#include "models/gpt.h"
#include "models/mlp.h"

#include <gmock/gmock.h>

#include <exception>
#include <limits>
#include <string>

namespace pando::models {
namespace {

using ::testing::HasSubstr;

template <class Build, class Options>
std::string rejected(Build build, const Options& options) {
  try {
    build(options);
    return "nothing is rejected";
  } catch (const std::exception& e) { return e.what(); }
}

TEST(Limits, AnArgumentThatIsWrongIsNamed) {
  const auto gpt = [](auto set) {
    Gpt g;
    set(g);
    return rejected(build_gpt, g);
  };
  EXPECT_THAT(gpt([](Gpt& g) { g.heads = 3; }), HasSubstr("heads is 3; it must divide the width, which is 8"));
  EXPECT_THAT(gpt([](Gpt& g) { g.heads = 0; }), HasSubstr("heads is 0; it must be at least 1"));
  EXPECT_THAT(gpt([](Gpt& g) { g.experts = -1; }), HasSubstr("experts is -1; it must be at least 0"));
  EXPECT_THAT(gpt([](Gpt& g) { g.inner = -1; }), HasSubstr("inner is -1; it must be at least 0"));
  EXPECT_THAT(gpt([](Gpt& g) { g.capacity = 0; }), HasSubstr("capacity is 0; it must be at least 1"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(gpt([&](Gpt& g) { g.optimizer.learning_rate = nan; }), HasSubstr("learning-rate is nan"));
  EXPECT_THAT(rejected(build_mlp, Mlp{.layers = 0}), HasSubstr("layers is 0; it must be at least 1"));
  EXPECT_THAT(rejected(build_mlp, Mlp{.learning_rate = nan}), HasSubstr("learning-rate is nan"));
}

TEST(Limits, WhatNoHostHoldsIsRejectedBeforeItIsAskedFor) {
  const auto gpt = [](auto set) {
    Gpt g;
    set(g);
    return rejected(build_gpt, g);
  };
  constexpr std::int64_t kGiga = 1'000'000'000, kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(gpt([](Gpt& g) { g.sequence = 1 << 20, g.heads = g.batch = 1; }), HasSubstr("the mask of a sequence of 1048576: "));
  EXPECT_THAT(gpt([](Gpt& g) { g.sequence = kGiga; }), HasSubstr("sequence make a tensor of 4 x 2 x 1000000000 x 1000000000 elements"));
  EXPECT_THAT(gpt([](Gpt& g) { g.layers = kGiga; }), HasSubstr("1000000000 layers: "));
  EXPECT_THAT(gpt([](Gpt& g) { g.experts = kGiga, g.layers = 12; }), HasSubstr("experts and "));
  EXPECT_THAT(gpt([](Gpt& g) { g.experts = kMost; }), HasSubstr("experts, width and inner make a tensor"));
  for (auto member : {&Gpt::width, &Gpt::vocabulary, &Gpt::batch, &Gpt::inner}) {
    EXPECT_THAT(gpt([&](Gpt& g) { g.*member = kMost / 2 * 2; }), HasSubstr("make a tensor of "));
  }
  EXPECT_THAT(rejected(build_mlp, Mlp{.layers = kGiga}), HasSubstr("1000000000 layers: "));
  EXPECT_THAT(rejected(build_mlp, Mlp{.width = kMost}), HasSubstr("width and width make a tensor of "));
  EXPECT_THAT(rejected(build_mlp, Mlp{.batch = kMost}), HasSubstr("batch and width make a tensor of "));
}

}  // namespace
}  // namespace pando::models
