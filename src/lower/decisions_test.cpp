// The golden text of what lowering decides: tests/golden/lower/decisions.txt is a module, a line "# lower decides", and the text.
// PANDO_BLESS=1 build/bin/test_lower --gtest_filter='Decisions*' rewrites it.
#include "base/golden.h"
#include "ir/text/parse.h"
#include "lower/lower.h"

#include <gtest/gtest.h>
#include <poplar/IPUModel.hpp>

namespace pando::lower {
namespace {

const std::string kName = "lower/decisions.txt", kMark = "# lower decides\n";

std::string decisions_of(const std::string& text, bool fuse = true) {
  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 4;
  poplar::Graph graph(model.createDevice().getTarget());
  Options options;
  std::string decisions;
  options.decisions = &decisions;
  options.fuse = fuse;
  lower(ir::parse(text, "decisions.txt"), graph, options);
  return decisions;
}

std::string module_of_golden() {
  const std::string text = read_golden(kName);
  return text.substr(0, text.find(kMark));
}

TEST(Decisions, golden) {
  const std::string before = module_of_golden();
  expect_golden(kName, before + kMark + decisions_of(before));
}

TEST(Decisions, passes_are_as_long_as_the_switch_says) {
  const std::string before = module_of_golden();
  EXPECT_NE(decisions_of(before).find("one pass of"), std::string::npos);
  EXPECT_EQ(decisions_of(before, false).find("one pass of"), std::string::npos);
}

}  // namespace
}  // namespace pando::lower
