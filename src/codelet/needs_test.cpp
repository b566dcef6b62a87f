// What codelets and the libraries that they call say about the tile's memory (include/pando/tile.hpp), compiled by popc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codelet/library_test.h"

namespace pando {
namespace {

class NeedsTest : public LibraryTest {};

constexpr const char* kNeedy = R"(
    #include <pando/tile.hpp>
    extern "C" const pando::Needs pando_needs_python{{0x100, 0x200}, "boot", 5000};
    extern "C" const pando::Needs pando_needs_python_header{{0, 0x40}, nullptr, 0};
    int inner() { pando::need(pando_needs_python); pando::need(pando_needs_python_header); return 1; }
    int outer(int n) { return n > 0 ? outer(n - 1) : inner(); }
    class Calls : public Vertex { public: Output<int> out; void compute() { *out = outer(3); } };
    class DoesNot : public Vertex { public: Output<int> out; static constexpr unsigned pando_code_bytes = 321; void compute() { *out = 1; } };)";

TEST_F(NeedsTest, WhatALibraryNeedsIsOfThoseWhoCallIt) {
  const Library library = compiled(kNeedy);
  const Codelet &calls = *library.find("Calls"), &not_calls = *library.find("DoesNot");
  ASSERT_EQ(calls.shared_ranges.size(), 2u);
  EXPECT_EQ(calls.shared_ranges[0].begin, 0x100u);
  EXPECT_EQ(calls.shared_ranges[0].size, 0x200u);
  EXPECT_EQ(calls.shared_ranges[0].image, "boot");
  EXPECT_EQ(calls.shared_ranges[1].size, 0x40u);
  ASSERT_EQ(calls.shared_code.size(), 1u);
  EXPECT_EQ(calls.shared_code[0].name, "python");
  EXPECT_EQ(calls.shared_code[0].bytes, 5000u);
  EXPECT_FALSE(calls.code_declared);
  EXPECT_TRUE(calls.uses_tile);
  EXPECT_TRUE(not_calls.shared_ranges.empty());
  EXPECT_TRUE(not_calls.shared_code.empty());
  EXPECT_TRUE(not_calls.code_declared);
  EXPECT_EQ(not_calls.code_bytes, 321u);
}

TEST_F(NeedsTest, NeedsAreConstant) {
  EXPECT_THAT(
      error_of(
          "#include <pando/tile.hpp>\nint n; extern \"C\" const pando::Needs pando_needs_x{{0, (unsigned)(unsigned long)&n}, nullptr, 0};\n"
          "class V : public Vertex { public: void compute() { pando::need(pando_needs_x); } };"),
      HasSubstr("'pando_needs_x' is not a constant pando::Needs"));
  EXPECT_THAT(error_of("unsigned n; class V : public Vertex { public: static const unsigned pando_code_bytes; void compute() {} };"),
              HasSubstr("pando_code_bytes"));
}

}  // namespace
}  // namespace pando
