#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poplar/exceptions.hpp"
#include "view/built_page.h"
#include "view/page.h"

namespace pando::view {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Page, Base64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64(std::string_view("\xff\xfe\0\x01", 4)), "//4AAQ==");
}

TEST(Page, HoldsItsReportsAndAsksForNothing) {
  if (kPagePartCount == 0) GTEST_SKIP() << kWhyNoPage;
  const ShownReport reports[] = {{"a \"b\" <c>.pando", "foo"}, {"second", ""}};
  const std::string page = write_page(reports, "ipu2=16x23x4");
  EXPECT_THAT(page, HasSubstr(R"(data-name="a &quot;b&quot; &lt;c>.pando" data-fabrics="ipu2=16x23x4" data-bytes="3"><!--Zm9v--></div>)"));
  EXPECT_THAT(page, HasSubstr(R"(data-name="second" data-fabrics="ipu2=16x23x4" data-bytes="0"></div>)"));
  EXPECT_THAT(page, Not(HasSubstr("<!-- pando: reports -->")));
  // Nothing is loaded from elsewhere.
  for (const char* loads : {"<link rel=\"stylesheet\"", "<script src", "@import", "url(http"}) EXPECT_THAT(page, Not(HasSubstr(loads)));
  EXPECT_LT(page.size(), 400'000u);
}

TEST(Page, TheDemoIsAReport) { EXPECT_NO_THROW(check_report(demo_report().bytes)); }

TEST(Page, ChecksReports) {
  // "123456789" has the checksum 0xcbf43926.
  const std::string head("PANDORPT\x04\0\0\0", 12),
      index = "123456789", whole = head + index + std::string("\x0c\0\0\0\0\0\0\0\x09\0\0\0\x09\0\0\0\x26\x39\xf4\xcb", 20) + "PANDOEND";
  EXPECT_NO_THROW(check_report(whole));
  auto said = [](std::string bytes) -> std::string {
    try {
      check_report(bytes);
    } catch (const poplar::parse_error& e) { return e.what(); }
    return "";
  };
  EXPECT_THAT(said(""), HasSubstr("not a report"));
  EXPECT_THAT(said("{}"), HasSubstr("not a report"));
  EXPECT_THAT(said(whole.substr(0, 20)), HasSubstr("cut off"));
  EXPECT_THAT(said(whole.substr(0, whole.size() - 1)), HasSubstr("cut off"));
  for (const auto& [at, what] :
       {std::pair{8, "version"}, {12, "checksum"}, {21, "footer"}, {29, "footer"}, {37, "checksum"}, {48, "cut off"}}) {
    std::string bad = whole;
    bad[static_cast<std::size_t>(at)] = '\x7f';
    EXPECT_THAT(said(bad), HasSubstr(what)) << at;
  }
}

TEST(Page, ABuildWithoutOneSaysWhy) {
  if (kPagePartCount != 0) GTEST_SKIP() << "this build has the page";
  try {
    write_page({}, {});
    FAIL();
  } catch (const poplar::poplar_error& e) { EXPECT_THAT(e.what(), HasSubstr(std::string(kWhyNoPage))); }
}

}  // namespace
}  // namespace pando::view
