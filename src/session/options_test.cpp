// The options of a session as rows: values by name and by text, and the page of them.
#include "base/testing/golden.h"
#include "pando/model_error.hpp"
#include "session/option_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poplar/exceptions.hpp>

#include <set>

namespace pando::session {
namespace {

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const std::exception& e) { return e.what(); }
  return "nothing thrown";
}

TEST(SessionOptions, rows_have_names_of_their_own_and_say_what_they_do) {
  std::set<std::string> texts;
  for (const OptionRow& row : option_rows()) {
    EXPECT_TRUE(texts.insert(lower::text_name(row)).second) << row.name;
    EXPECT_FALSE(row.effect.empty()) << row.name;
    EXPECT_NE(row.effect.back(), '.') << row.name;
  }
  EXPECT_GT(texts.size(), lower::option_rows().size());
  EXPECT_TRUE(texts.contains("pando.checkFloat8Scales"));
}

TEST(SessionOptions, values_are_of_the_rows) {
  Settings s(option_rows());
  EXPECT_TRUE(s.flag("fuse"));
  s.set("fuse", false);
  s.set("num_io_tiles", std::int64_t{3});
  s.set("partials_type_matmuls", "half");
  EXPECT_FALSE(s.flag("fuse"));
  EXPECT_EQ(s.number("num_io_tiles"), 3);
  EXPECT_EQ(s.text("partials_type_matmuls"), "half");
  s.drop_those_of_ipus();
  EXPECT_EQ(s.number("num_io_tiles"), 0);
  EXPECT_FALSE(s.flag("fuse"));
  EXPECT_THAT(message_of([&] { s.set("fusw", true); }),
              testing::HasSubstr("a session has no option 'fusw'; did you mean 'fuse'? [unknown-session-option]"));
  EXPECT_THAT(message_of([&] { s.set("fuse", std::int64_t{1}); }),
              testing::HasSubstr("'fuse' is true or false, not 1 [session-option-type]"));
  EXPECT_THAT(message_of([&] { s.set("partials_type_matmuls", "int"); }),
              testing::HasSubstr("is float or half, not 'int' [session-option-value]"));
}

TEST(SessionOptions, texts_set_values) {
  Settings s(option_rows());
  EXPECT_TRUE(s.read("pando.checkAmbiguity", "false"));
  EXPECT_FALSE(s.flag("check_ambiguity"));
  EXPECT_TRUE(s.read("pando.numIoTiles", "32"));
  EXPECT_EQ(s.number("num_io_tiles"), 32);
  EXPECT_FALSE(s.read("pando.numHostTransfers", "2")) << "said by who gives the data";
  EXPECT_FALSE(s.read("check_ambiguity", "false"));
  EXPECT_FALSE(s.read("pando.threads", "2")) << "the engine's";
  for (const auto& [name, value] : {std::pair<const char*, const char*>{"pando.fuse", "1"},
                                    {"pando.fuse", ""},
                                    {"pando.numIoTiles", "3x"},
                                    {"pando.numIoTiles", ""},
                                    {"pando.partialsTypeMatmuls", "floats"}})
    EXPECT_THROW(s.read(name, value), poplar::invalid_option) << name << "=" << value;
}

// A page of the docs ends with the table: docs/howto/add-a-session-option.md says how it is written.
TEST(SessionOptions, the_page_has_the_table) {
  const std::string name = "../../docs/level/session-options.md";
  std::string page = read_golden(name);
  const std::size_t table = page.find("| option |");
  ASSERT_NE(table, std::string::npos);
  expect_golden(name, page.substr(0, table) + lower::describe(option_rows()));
}

}  // namespace
}  // namespace pando::session
