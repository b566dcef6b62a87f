// The golden texts of what lowering decides, on four tiles (tests/golden/lower/decisions.txt) and on the CPU device (epilogues.txt): a
// module, a line "# lower decides", and the text.
// PANDO_BLESS=1 build/bin/test_lower --gtest_filter='Decisions*' rewrites them.
#include "base/testing/golden.h"
#include "ir/text/parse.h"
#include "lower/lower.h"

#include <gtest/gtest.h>
#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>

namespace pando::lower {
namespace {

const std::string kMark = "# lower decides\n", kOnTiles = "lower/decisions.txt", kOnCpu = "lower/epilogues.txt";

poplar::Target target_of(const std::string& name) {
  if (name == kOnCpu) return poplar::Target::createCPUTarget();
  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 4;
  return model.createDevice().getTarget();
}

std::string module_of(const std::string& name) {
  const std::string text = read_golden(name);
  return text.substr(0, text.find(kMark));
}

std::string decisions_of(const std::string& name, Options options = {}) {
  poplar::Graph graph(target_of(name));
  std::string decisions;
  options.decisions = &decisions;
  lower(ir::parse(module_of(name), name), graph, options);
  return decisions;
}

TEST(Decisions, golden) {
  for (const std::string& name : {kOnTiles, kOnCpu}) expect_golden(name, module_of(name) + kMark + decisions_of(name));
}

TEST(Decisions, passes_are_as_long_as_the_switch_says) {
  Options apart;
  apart.settings.set("fuse", false);
  EXPECT_NE(decisions_of(kOnTiles).find("one pass of"), std::string::npos);
  EXPECT_EQ(decisions_of(kOnTiles, apart).find("one pass of"), std::string::npos);
}

// Bias and activation, a residual, the gradient of an activation: each is done with the parts of the product before it.
TEST(Decisions, epilogues_are_told_as_far_as_the_switches_let_them_be) {
  const auto told = [](const Options& options) {
    const std::string text = decisions_of(kOnCpu, options), line = "done with each part of matmul '";
    std::size_t n = 0;
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(told({}), 3u);
  Options without;
  without.settings.set("epilogues", false);
  EXPECT_EQ(told(without), 0u);
  Options apart;
  apart.settings.set("fuse", false);
  EXPECT_EQ(told(apart), 0u);
}

}  // namespace
}  // namespace pando::lower
