#include "base/messages.h"

#include <gtest/gtest.h>

namespace pando {
namespace {

using namespace std::string_literals;

TEST(Messages, what_a_terminal_would_obey_is_shown_as_its_code) {
  EXPECT_EQ(printable("a\x1b[31mb\0c\x7f\r"s), "a\\x1b[31mb\\x00c\\x7f\\x0d");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI, as UTF-8 has it
}

TEST(Messages, text_stays) {
  const std::string text = "line\n\tof text, \xc3\xa4 \xe2\x86\x92 \xf0\x9f\x98\x80";
  EXPECT_EQ(printable(text), text);
}

TEST(Messages, what_is_no_utf8_is_shown_as_its_code) {
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");                    // never, and cut off
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // longer than need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // behind the last
}

TEST(Messages, a_library_does_not_name_itself) {
  EXPECT_EQ(without_library("a: [json.exception.parse_error.101] b"), "a: b");
  EXPECT_EQ(without_library("[json.exception.cut"), "[json.exception.cut");
}

}  // namespace
}  // namespace pando
