#include "ontile/repl/shell/tile_set.h"

#include <gmock/gmock.h>

#include <poplar/exceptions.hpp>

namespace pando::ontile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr Tiles kTwo = {2, 12};

std::vector<unsigned> parse(std::string_view text) { return parse_tiles(text, kTwo); }

TEST(TileSet, EveryForm) {
  EXPECT_THAT(parse("3"), ElementsAre(3));
  EXPECT_THAT(parse("0-2,7, 9 - 11"), ElementsAre(0, 1, 2, 7, 9, 10, 11));
  EXPECT_THAT(parse("5,1,5,1-2"), ElementsAre(1, 2, 5));
  EXPECT_THAT(parse("even"), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(parse("odd"), ElementsAre(1, 3, 5, 7, 9, 11));
  EXPECT_THAT(parse("ipu 1"), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(parse("ipu 0-1"), SizeIs(12));
  EXPECT_THAT(parse("0:12:5"), ElementsAre(0, 5, 10));
  EXPECT_THAT(parse("10:"), ElementsAre(10, 11));
  EXPECT_THAT(parse("::6"), ElementsAre(0, 6));
  EXPECT_THAT(parse("all"), SizeIs(12));
}

TEST(TileSet, SaysWhatIsWrong) {
  for (const char* text : {"", "some", "3-1", "1,,2", "0:12:0", "5:5", "-1", "1.5", "ipu", "4294967295", "4294967296"})
    EXPECT_THAT([=] { parse(text); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("names no tiles; expected something like"))) << text;
  for (const char* text : {"12", "0-12", "0:13", "0,400"})
    EXPECT_THAT([=] { parse(text); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("there are 12 tiles, 0 to 11"))) << text;
  EXPECT_THAT([] { parse("ipu 2"); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("'ipu 2': this machine has 2 IPUs, 0 to 1")));
}

TEST(TileSet, PrintsRanges) {
  EXPECT_EQ(print_tiles({}), "none");
  EXPECT_EQ(print_tiles({4}), "4");
  EXPECT_EQ(print_tiles({0, 1, 2, 3, 4, 5, 7, 9, 10, 11}), "0-5,7,9-11");
  EXPECT_EQ(print_tiles({0, 1}), "0-1");
  EXPECT_EQ(print_tiles({1, 3, 5, 7, 9}), "1,3,5,7,9");
  EXPECT_EQ(print_tiles(parse("odd")), "1:12:2");
  EXPECT_EQ(print_tiles(parse("even")), "0:11:2");
  EXPECT_EQ(print_tiles({0, 2, 3, 4, 5, 6, 9, 12, 15, 18, 21, 24, 30}), "0,2-6,9:25:3,30");
  EXPECT_EQ(parse(print_tiles(parse("odd"))), parse("odd"));
}

}  // namespace
}  // namespace pando::ontile
