#include "ontile/repl/terminal/keys.h"

#include <gtest/gtest.h>

namespace pando::ontile {
namespace {

Group say(std::string text, std::vector<unsigned> tiles, Ending ending = Ending::done) {
  return {std::move(text), ending, 0, std::move(tiles)};
}

TEST(Keys, EchoOfAllIsPassedOn) {
  EXPECT_EQ(render_keys({say("x", {0, 1})}, {}), "x");
  EXPECT_EQ(render_keys({say("\r\n3\r\n>>> ", {0, 1})}, {}), "\r\n3\r\n>>> ");
}

TEST(Keys, AnswersAreGroupedAboveOnePrompt) {
  EXPECT_EQ(render_keys({say("\r\n3\r\n>>> ", {0, 2}), say("\r\n4\r\n>>> ", {1})}, {}),
            "\n---------- [2x] ---------- tiles 0,2\n3\n---------- [1x] ---------- tile 1\n4\n>>> ");
  EXPECT_EQ(render_keys({say("\r\n>>> ", {0, 2}), say("\r\n4\r\n>>> ", {1})}, {}), "\n---------- [1x] ---------- tile 1\n4\n>>> ");
}

TEST(Keys, EndedInterpretersSayNothing) { EXPECT_EQ(render_keys({say("x", {0, 2}), say("", {1}, Ending::skipped)}, {}), "x"); }

}  // namespace
}  // namespace pando::ontile
