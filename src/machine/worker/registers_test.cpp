#include "machine/worker/registers.h"

#include <gmock/gmock.h>

#include <random>

namespace pando {
namespace {

using ::testing::IsEmpty;

// An instruction of a word: what it reads of the block, and of outside.
Issue made(std::string_view name, std::vector<std::uint32_t> reads = {}, std::vector<std::uint32_t> held = {}) {
  Issue out{find_worker_instruction(name), reads, false, 0, ""};
  EXPECT_NE(out.what, nullptr) << name;
  out.file = name.starts_with("ld") ? Pipe::aux : out.what->pipe;
  out.words = name.starts_with("st") ? 0 : 1;
  out.reads = std::move(reads);
  out.held = std::move(held);
  return out;
}

// `loads` values that one sum after the other takes up at the end, and a product with each of `held` values of outside.
struct Loop {
  std::vector<Issue> block;
  std::vector<HeldValue> held;
  std::vector<Bundle> bundles;
  Loop(unsigned loads, unsigned held_values, bool is_made) : held(held_values, HeldValue{Pipe::aux, 1, false, is_made}) {
    for (unsigned i = 0; i < loads; ++i) block.push_back(made("ld32"));
    for (std::uint32_t v = 0; v < held_values; ++v) block.push_back(made("f32mul", {0}, {v}));
    for (std::uint32_t i = 1; i < loads; ++i) block.push_back(made("f32add", {static_cast<std::uint32_t>(block.size() - 1), i}));
    block.push_back(made("st32", {static_cast<std::uint32_t>(block.size() - 1)}));
    bundles = schedule(block);
    before = slots_of(bundles);
    fit_registers(block, bundles, held);
  }
  unsigned before = 0;
  unsigned added() const { return slots_of(bundles) - before; }
};

TEST(Registers, WhatHasRoomStays) {
  const Loop loop(2, 2, false);
  EXPECT_EQ(loop.added(), 0u);
  EXPECT_THAT(check_schedule(loop.block, loop.bundles), IsEmpty());
}

TEST(Registers, WhatHasNoneIsLoadedAgain) {
  const Loop loop(6, 8, false);
  EXPECT_GT(loop.added(), 0u);
  EXPECT_GT(loop.block.size(), 6u + 8 + 5 + 1);
  EXPECT_THAT(check_schedule(loop.block, loop.bundles), IsEmpty());
  EXPECT_THAT(loop.block.back().text, "back from the stack");
  const Loop constants(6, 8, true);
  EXPECT_EQ(constants.block.back().what->name, "a.or");
  EXPECT_THAT(check_schedule(constants.block, constants.bundles), IsEmpty());
}

TEST(Registers, ValuesThatChangeKeepTheirs) {
  std::vector<Issue> block = {made("f32add", {}, {0}), made("f32mul", {}, {1})};
  std::vector<Bundle> bundles = schedule(block);
  const std::vector<HeldValue> held = {{Pipe::aux, 8, true, false}, {Pipe::aux, 1, false, false}};
  fit_registers(block, bundles, held);
  ASSERT_EQ(block.size(), 3u);
  EXPECT_EQ(block[2].what->name, "ld32");
  EXPECT_EQ(block[1].after, (std::vector<std::uint32_t>{2}));
}

// Against the definition: a value occupies its words behind its slot until its last reader's slot.
TEST(Registers, LiveWordsAreThoseThatWaitForAReader) {
  const unsigned seed = 20261127;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Issue> block;
    for (std::uint32_t i = 0; i < 20; ++i) {
      std::vector<std::uint32_t> reads;
      for (std::uint32_t k = 0; k < i; ++k)
        if (random() % 6 == 0) reads.push_back(k);
      block.push_back(made(random() % 2 ? "ld32" : "f32add", reads));
    }
    const std::vector<Bundle> bundles = schedule(block);
    const auto slot_of = [&](std::uint32_t i) {
      for (std::size_t s = 0; s < bundles.size(); ++s)
        if (bundles[s].main == i || bundles[s].aux == i) return s;
      return bundles.size();
    };
    unsigned most = 0;
    for (std::size_t s = 0; s < bundles.size(); ++s) {
      unsigned words = 0;
      for (std::uint32_t i = 0; i < block.size(); ++i) {
        bool waits = false;
        for (std::uint32_t k = 0; k < block.size(); ++k)
          for (const std::uint32_t read : block[k].reads) waits = waits || (read == i && slot_of(k) > s);
        words += slot_of(i) <= s && waits ? 1 : 0;
      }
      most = std::max(most, words);
    }
    EXPECT_EQ(most_live_words(block, bundles, Pipe::aux), most);
  }
}

// A scheduler that has few registers makes loads wait, and still issues everything.
TEST(Registers, LoadsWaitForRegisters) {
  std::vector<Issue> block;
  for (int i = 0; i < 12; ++i) block.push_back(made("ld32"));
  for (std::uint32_t i = 0; i < 12; ++i) block.push_back(made("f32exp", {i}));
  for (std::uint32_t i = 0; i < 12; ++i) block.push_back(made("st32", {12 + i}));
  const std::vector<Bundle> wide = schedule(block), narrow = schedule(block, 4);
  EXPECT_THAT(check_schedule(block, narrow), IsEmpty());
  EXPECT_LT(most_live_words(block, narrow, Pipe::aux), most_live_words(block, wide, Pipe::aux));
}

}  // namespace
}  // namespace pando
