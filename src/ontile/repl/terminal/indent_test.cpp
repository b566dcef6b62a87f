#include "ontile/repl/terminal/indent.h"

#include <gtest/gtest.h>

namespace pando::ontile {
namespace {

TEST(Indent, NextLine) {
  EXPECT_EQ(next_indent("x = 1"), "");
  EXPECT_EQ(next_indent("for i in x:"), "    ");
  EXPECT_EQ(next_indent("    if y:  "), "        ");
  EXPECT_EQ(next_indent("    y = 2"), "    ");
  EXPECT_EQ(next_indent("        return y"), "    ");
  EXPECT_EQ(next_indent("    raise(y)"), "");
  EXPECT_EQ(next_indent("    returned = y"), "    ");
  EXPECT_EQ(next_indent("pass"), "");
  EXPECT_EQ(next_indent(""), "");
}

TEST(Indent, Backspace) {
  EXPECT_EQ(backspace(""), 0u);
  EXPECT_EQ(backspace("ab"), 1u);
  EXPECT_EQ(backspace("        "), 4u);
  EXPECT_EQ(backspace("      "), 2u);
  EXPECT_EQ(backspace("    x"), 1u);
  EXPECT_EQ(backspace("if x:\n    "), 4u);
  EXPECT_EQ(backspace("if x:\n"), 1u);
}

}  // namespace
}  // namespace pando::ontile
