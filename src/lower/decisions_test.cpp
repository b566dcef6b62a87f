// The golden text of what lowering decides: tests/golden/lower/decisions.txt is a module, a line "# lower decides", and the text.
// PANDO_BLESS=1 build/bin/test_lower --gtest_filter='Decisions*' rewrites it.
#include "ir/text/parse.h"
#include "lower/lower.h"

#include <gtest/gtest.h>
#include <poplar/IPUModel.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace pando::lower {
namespace {

const std::string kPath = std::string(PANDO_SOURCE_DIR) + "/tests/golden/lower/decisions.txt", kMark = "# lower decides\n";

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

std::string golden() {
  std::ifstream file(kPath);
  EXPECT_TRUE(file) << kPath;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Decisions, golden) {
  const std::string before = golden().substr(0, golden().find(kMark)), text = before + kMark + decisions_of(before);
  if (std::getenv("PANDO_BLESS") != nullptr) std::ofstream(kPath) << text;
  EXPECT_EQ(golden(), text) << "PANDO_BLESS=1 writes it";
}

TEST(Decisions, passes_are_as_long_as_the_switch_says) {
  const std::string before = golden().substr(0, golden().find(kMark));
  EXPECT_NE(decisions_of(before).find("one pass of"), std::string::npos);
  EXPECT_EQ(decisions_of(before, false).find("one pass of"), std::string::npos);
}

}  // namespace
}  // namespace pando::lower
