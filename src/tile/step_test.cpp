#include "tile/step.h"

#include <gtest/gtest.h>

#include <set>

#include "tile/hand_made.h"

namespace pando::tile {
namespace {

// Two of everything that an operand may name.
Program everything() {
  HandMade p(1, 4);
  p.program.computes.resize(2);
  p.program.exchanges.resize(2);
  p.program.transfers.resize(2);
  p.program.functions = {"f", "g"};
  p.program.channels.resize(2);
  for (Channel& c : p.program.channels) c.sends = c.receives = 2;
  p.program.replica_maps.resize(2);
  p.add_location(TileId(1), 0x40, ElementType::boolean);
  p.add_location(TileId(2), 0x44, ElementType::boolean);
  p.add_location(TileId(3), 0x48, ElementType::boolean);
  return p.program;
}

Instruction instruction_of(Op op, std::uint32_t b) {
  Instruction in;
  in.op = op;
  const StepRow& row = row_of(op);
  if (row.a == Names::locations_begin) {
    in.b = 3;
    return in;
  }
  if (row.a != Names::nothing && (row.a != Names::loaded_function || b != 0)) in.a = 1;
  if (row.b != Names::nothing) in.b = b;
  if (may_jump(row.flow)) in.target = 7;
  if (row.text.find("$n") != std::string_view::npos) in.count = 12;
  if (row.text.find("$i") != std::string_view::npos) in.count = static_cast<std::uint64_t>(std::int64_t{-3});
  return in;
}

TEST(Steps, RowsAreWhole) {
  std::set<std::string_view> names, texts;
  for (std::size_t i = 0; i < kSteps; ++i) {
    const StepRow& row = row_of(static_cast<Op>(i));
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second);
    EXPECT_TRUE(texts.insert(row.text).second);
    EXPECT_FALSE(row.text.empty());
    // An operand is in the text, and what is in the text is an operand.
    const auto shows = [&](const char* what) {
      return (std::string(row.text) + std::string(row.text_if_b)).find(what) != std::string::npos;
    };
    EXPECT_EQ(shows("$a") || shows("$l"), row.a != Names::nothing);
    EXPECT_EQ(shows("$b") || shows("$r") || row.b == Names::flag, row.b != Names::nothing);
    EXPECT_EQ(shows("$t"), may_jump(row.flow));
    EXPECT_EQ(row.perform != nullptr, row.work == Work::little || row.work == Work::load_code);
    if (row.is_observed || row.is_memory_step) EXPECT_NE(row.kind, "control");
  }
}

TEST(Steps, TextsParse) {
  const Program program = everything();
  for (std::size_t i = 0; i < kSteps; ++i)
    for (const std::uint32_t b : {0u, 1u}) {
      const Instruction in = instruction_of(static_cast<Op>(i), b);
      const std::string text = text_of(program, in);
      SCOPED_TRACE(text);
      const std::optional<Instruction> again = parse_instruction(program, text);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->op, in.op);
      EXPECT_EQ(again->a, in.a);
      EXPECT_EQ(again->b, in.b);
      EXPECT_EQ(again->target, in.target);
      EXPECT_EQ(again->count, in.count);
    }
  for (const char* wrong : {"", "compute", "compute x1", "compute c1 ", "combine t1@0x40", "if t9@0x40 to 1", "return 1"})
    EXPECT_FALSE(parse_instruction(program, wrong)) << wrong;
}

TEST(Steps, OperandsThatNameNothingAreRejected) {
  for (std::size_t i = 0; i < kSteps; ++i) {
    const StepRow& row = row_of(static_cast<Op>(i));
    for (const bool second : {false, true}) {
      const Names names = second ? row.b : row.a;
      if (names == Names::nothing || names == Names::flag) continue;
      HandMade p(1, 4);
      const StreamId s = p.add_ipu(0);
      const std::uint32_t at = p.emit(s, static_cast<Op>(i), 0, names == Names::loaded_function ? 1 : 0);
      (second ? p.program.streams[0].code[at].b : p.program.streams[0].code[at].a) = 99;
      p.emit(s, Op::end);
      EXPECT_FALSE(verify(p.program, p.library).empty()) << row.name;
      EXPECT_ANY_THROW(check_bounds(p.program, p.library)) << row.name;
    }
  }
}

}  // namespace
}  // namespace pando::tile
