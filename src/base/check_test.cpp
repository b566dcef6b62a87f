#include "base/check.h"
#include "base/check_handler.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pando {
namespace {

void raise(const std::string& text) { throw std::logic_error(text); }

void break_one() { PANDO_CHECK(1 + 1 == 3); }

TEST(Check, a_handler_may_throw) {
  set_check_handler(raise);
  try {
    break_one();
    FAIL();
  } catch (const std::logic_error& e) {
    EXPECT_NE(std::string(e.what()).find("base/check_test.cpp"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("1 + 1 == 3"), std::string::npos) << e.what();
  }
  set_check_handler(nullptr);
}

TEST(Check, without_a_handler_the_process_ends) { EXPECT_DEATH(break_one(), "broken invariant at src/base/check_test.cpp"); }

}  // namespace
}  // namespace pando
