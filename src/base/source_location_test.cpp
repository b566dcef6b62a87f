#include "base/source_location.h"

#include <gmock/gmock.h>

#include "poplar/exceptions.hpp"

namespace pando {
namespace {

TEST(SourceLocation, TextSaysWhatIsKnown) {
  EXPECT_EQ(text_of({"a.txt", 3, 7}), "a.txt:3:7");
  EXPECT_EQ(text_of({"a.txt", 3}), "a.txt:3");
  EXPECT_EQ(text_of({"a.txt", 0, 7}), "a.txt");
  EXPECT_EQ(text_of({"a.csv", 2, 0, "cell 3"}), "a.csv:2: cell 3");
  EXPECT_EQ(text_of({"net.onnx", 0, 0, "Conv 'c'"}), "net.onnx: Conv 'c'");
  EXPECT_EQ(text_of({"", 2, 5}), "line 2:5");
  EXPECT_EQ(text_of({"", 0, 0, "Conv 'c'"}), "Conv 'c'");
}

TEST(SourceLocation, LineAndColumnOfAByte) {
  const std::string_view text = "ab\n\ncd";
  const auto at = [&](std::size_t offset) { return text_of(location_in(text, offset, "t")); };
  EXPECT_EQ(at(0), "t:1:1");
  EXPECT_EQ(at(2), "t:1:3");  // the end of the line itself
  EXPECT_EQ(at(3), "t:2:1");
  EXPECT_EQ(at(4), "t:3:1");
  EXPECT_EQ(at(6), "t:3:3");
  EXPECT_EQ(at(99), "t:3:3");  // behind the end is the end
  EXPECT_EQ(text_of(location_in("", 0, "t")), "t:1:1");
}

TEST(SourceLocation, ErrorsBeginWithThePlaceAndEndWithTheId) {
  try {
    fail_at(ErrorKind::parse_error, "an-id", {"a.csv", 2, 0, "cell 3"}, "found {}, expected {}", 1, "more");
  } catch (const poplar::parse_error& e) {
    EXPECT_STREQ(e.what(), "a.csv:2: cell 3: found 1, expected more [an-id]");
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST(SourceLocation, TextAndId) {
  EXPECT_EQ(without_id("it is [1, 2] [some-id]"), "it is [1, 2]");
  EXPECT_EQ(without_id("it is [1, 2]"), "it is [1, 2]");
  EXPECT_EQ(without_id("it is [x] now"), "it is [x] now");
  EXPECT_EQ(without_id(""), "");
  EXPECT_EQ(without_id("[id]"), "[id]");
  EXPECT_EQ(id_of("it is [1, 2] [some-id]"), "some-id");
  EXPECT_EQ(id_of("it is [1, 2]"), "");
}

}  // namespace
}  // namespace pando
