#include "ontile/repl/shell/groups.h"

#include <gmock/gmock.h>

#include "ontile/repl/shell/tile_set.h"

namespace pando::ontile {
namespace {

// One answer per text, in tile order.
Reply reply(const std::vector<std::string>& said) {
  Reply reply;
  for (std::uint32_t tile = 0; tile < said.size(); ++tile) {
    const auto at = std::find(reply.texts.begin(), reply.texts.end(), said[tile]);
    reply.answers.push_back({tile, Ending::done, static_cast<std::uint32_t>(at - reply.texts.begin()), 0});
    if (at == reply.texts.end()) reply.texts.push_back(said[tile]);
  }
  return reply;
}

std::string numbers(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i) + '\n';
  return text;
}

Style folding(std::size_t groups, std::size_t head, std::size_t tail) { return {false, true, groups, head, tail}; }

TEST(Groups, MostFrequentFirstThenLowestTile) {
  const auto groups = group(reply({"b\n", "a\n", "c\n", "c\n", "a\n", "d\n", "a\n"}));
  ASSERT_EQ(groups.size(), 4u);
  EXPECT_EQ(groups[0].text, "a\n");
  EXPECT_EQ(print_tiles(groups[0].tiles), "1,4,6");
  EXPECT_EQ(groups[1].text, "c\n");
  EXPECT_EQ(groups[2].text, "b\n");
  EXPECT_EQ(groups[3].text, "d\n");
}

TEST(Groups, SameTextWithAnotherEndingIsAnotherGroup) {
  Reply r = reply({"x\n", "x\n", "x\n"});
  r.answers[2].ending = Ending::exited;
  EXPECT_EQ(group(r).size(), 2u);
}

TEST(Render, OneVoiceHasNoRuler) {
  EXPECT_EQ(render(group(reply({"42\n", "42\n"})), {}), "42\n");
  EXPECT_EQ(render(group(reply({"no line end", "no line end"})), {}), "no line end\n");
}

TEST(Render, SilenceIsSilent) {
  EXPECT_EQ(render(group(reply({"", ""})), {}), "");
  EXPECT_EQ(render({}, {}), "");
  Reply gone = reply({"gone", "gone"});
  for (Answer& answer : gone.answers) answer.ending = Ending::skipped;
  EXPECT_EQ(render(group(gone), {}), "");
}

TEST(Render, RulersAndFewTiles) {
  EXPECT_EQ(render(group(reply({"0\n", "1\n", "0\n"})), {}),
            "---------- [2x] ---------- tiles 0,2\n0\n"
            "---------- [1x] ---------- tile 1\n1\n");
  EXPECT_EQ(render(group(reply({"", "1\n", ""})), {}), "---------- [1x] ---------- tile 1\n1\n");
}

TEST(Render, ManyTilesAreNotListed) {
  std::vector<std::string> said;
  for (int i = 0; i < 40; ++i) said.push_back(i % 7 < 2 || i % 7 == 3 ? "a\n" : "b\n");
  EXPECT_EQ(render(group(reply(said)), {}), "---------- [22x] ----------\nb\n---------- [18x] ----------\na\n");
}

TEST(Render, ManyGroupsAreFolded) {
  std::vector<std::string> said;
  for (int i = 0; i < 5; ++i) said.push_back(std::to_string(i) + "\n");
  const std::string text = render(group(reply(said)), folding(2, 20, 5));
  EXPECT_THAT(text, testing::HasSubstr("tile 1\n1\n... and 3 more groups\n"));
  EXPECT_THAT(render(group(reply(said)), folding(4, 20, 5)), testing::EndsWith("... and 1 more group\n"));
  EXPECT_THAT(render(group(reply(said)), {}), testing::EndsWith("tile 4\n4\n"));
}

TEST(Render, LongGroupsAreFolded) {
  EXPECT_EQ(fold(numbers(9), folding(9, 3, 2)), "0\n1\n2\n... 4 more lines ...\n7\n8\n");
  EXPECT_EQ(fold(numbers(6), folding(9, 3, 2)), numbers(6));
  EXPECT_EQ(fold(numbers(100), {}), numbers(100));
}

TEST(Groups, WhereTheComplaintBegins) {
  const auto begin = [](std::string text, Ending ending) { return complaint_begin({std::move(text), ending, 0, {0}}); };
  EXPECT_EQ(begin("1\nTraceback (most recent call last):\n  File \"x\", line 1\nValueError: \n", Ending::raised), 2u);
  EXPECT_EQ(begin("odd words\n", Ending::raised), 0u);
  EXPECT_EQ(begin("1\n2\nstack overflow\n", Ending::ended), 4u);
  EXPECT_EQ(begin("stack overflow\n", Ending::ended), 0u);
  EXPECT_EQ(begin("", Ending::ended), 0u);
  EXPECT_EQ(begin("fine\n", Ending::done), 5u);
}

TEST(Render, ColoursAreForTerminals) {
  Reply r = reply({"0\n", "1\n", "0\n"});
  r.answers[1].ending = Ending::raised;
  Style style;
  style.colours = true;
  EXPECT_EQ(render(group(r), style),
            "\033[1;34m---------- [2x] ----------\033[0m\033[2m tiles 0,2\033[0m\n0\n"
            "\033[1;34m---------- [1x] ----------\033[0m\033[2m tile 1\033[0m\n\033[31m1\033[0m\n");
}

}  // namespace
}  // namespace pando::ontile
