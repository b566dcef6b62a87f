#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cycles/cycle_model.h"
#include "cycles/hand_program.h"
#include "cycles/step_ranges.h"

namespace pando::cycles {
namespace {

struct Random {
  std::uint64_t state = 1;
  std::uint64_t below(std::uint64_t n) { return ((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33) % n; }
};

profile::Report memory_of(const HandProgram& hand) {
  profile::Report r;
  fill_memory(*hand.program(), hand.library(), r);
  return r;
}

// Two tiles, four steps. Tile 0: 100 bytes always, 40 in steps 0-1, 60 in steps 1-2, 30 (code, an estimate) in step 3.
HandProgram small() {
  HandProgram hand(*find_machine("tiny4"));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  for (const char* step : {"load", "forward", "backward", "store"}) hand.compute(0, step, {{c, 0, 1}});
  tile::Program& p = *hand.program();
  p.live_ranges = {{}, {{0, 2}}, {{1, 3}}, {{3, 4}}};
  using tile::Category;
  tile::NameId weights = hand.name("weights"), a = hand.name("a"), b = hand.name("b"), code = hand.name("code");
  p.allocations = {{TileId(0), weights, Category::variable, true, false, 0, 100, 0},
                   {TileId(0), a, Category::variable, false, false, 128, 40, 1},
                   {TileId(0), b, Category::exchange_buffer, false, false, 168, 60, 2},
                   {TileId(0), code, Category::vertex_code, false, true, 128, 30, 3},
                   {TileId(1), weights, Category::variable, true, false, 0, 250, 0}};
  return hand;
}

TEST(MemoryReport, TilesAndCategories) {
  profile::Report r = memory_of(small());
  EXPECT_EQ(r.target.name, "tiny4");
  EXPECT_EQ(r.target.bytes_per_tile, 624u * 1024);
  ASSERT_EQ(r.tiles.size(), 4u);
  EXPECT_EQ(r.tiles[0].used, 200u);  // step 1: 100 + 40 + 60
  EXPECT_EQ(r.tiles[0].with_gaps, 228u);
  EXPECT_EQ(r.tiles[1].used, 250u);
  EXPECT_EQ(r.tiles[2].used, 0u);
  ASSERT_EQ(r.categories.size(), 3u);
  EXPECT_EQ(r.categories[0].category, "variable");
  EXPECT_EQ(r.categories[0].bytes, 390u);
  EXPECT_FALSE(r.categories[0].estimated);
  EXPECT_EQ(r.categories[1].category, tile::name_of(tile::Category::vertex_code));
  EXPECT_TRUE(r.categories[1].estimated);
  EXPECT_EQ(r.tiles[0].by_category, (std::vector<std::uint64_t>{140, 0, 60}));
}

TEST(MemoryReport, LivenessOverTheProgram) {
  profile::Report r = memory_of(small());
  ASSERT_EQ(r.liveness.size(), 1u);
  EXPECT_EQ(r.liveness[0].stream, "ipu0.compute");
  EXPECT_EQ(r.liveness[0].always_live_bytes, 350u);
  std::vector<std::string> names;
  std::vector<std::uint64_t> live, worst;
  for (const profile::LiveStep& s : r.liveness[0].steps)
    names.push_back(s.name), live.push_back(s.live_bytes), worst.push_back(s.worst_tile_bytes);
  EXPECT_THAT(names, testing::ElementsAre("load", "forward", "backward", "store"));
  EXPECT_THAT(live, testing::ElementsAre(40, 100, 60, 30));
  EXPECT_THAT(worst, testing::ElementsAre(250, 250, 250, 250));
}

TEST(MemoryReport, StepsAndVertices) {
  profile::Report r = memory_of(small());
  std::vector<std::string> parts;
  for (const profile::ProgramStep& s : r.program) parts.push_back(s.name + "/" + s.kind);
  EXPECT_THAT(parts, testing::ElementsAre("load/compute", "forward/compute", "backward/compute", "store/compute"));
  ASSERT_EQ(r.compute_sets.size(), 1u);  // four steps of one
  ASSERT_EQ(r.compute_sets[0].codelets.size(), 1u);
  EXPECT_THAT(r.compute_sets[0].codelets[0].tiles, testing::ElementsAre(0, 1, 1));
  EXPECT_TRUE(r.variables.empty());
}

TEST(MemoryReport, VariablesAreLiveWhereTheirAllocationsAre) {
  const HandProgram hand = small();
  hand.program()->allocations.push_back(
      {TileId(1), hand.program()->allocations[1].name, tile::Category::variable, false, false, 256, 8, 1});
  profile::Report r;
  fill_memory(*hand.program(), hand.library(), r, true);
  std::vector<std::string> text;
  for (const profile::LoweredVariable& v : r.variables)
    text.push_back(v.name + " " + v.category + " " + std::to_string(v.always_live_bytes) + " " + testing::PrintToString(v.live));
  EXPECT_THAT(text, testing::ElementsAre("a variable 0 { 0, 2, 48 }", "b exchange buffer 0 { 1, 3, 60 }", "code vertex code 0 { 3, 4, 30 }",
                                         "weights variable 350 {}"));
}

TEST(MemoryReport, LargestVariables) {
  profile::Report r = memory_of(small());
  ASSERT_EQ(r.largest.size(), 4u);
  EXPECT_EQ(r.largest[0].name, "weights");
  EXPECT_EQ(r.largest[0].bytes, 350u);
  EXPECT_EQ(r.largest[0].tiles, 2u);
  EXPECT_EQ(r.largest[1].name, "b");
  EXPECT_EQ(r.largest[1].category, tile::name_of(tile::Category::exchange_buffer));
  EXPECT_EQ(r.largest[3].name, "code");
}

// What WriteUndef makes undefined comes from no tile.
TEST(MemoryReport, UndefinedDataIsNoTraffic) {
  HandProgram hand(*find_machine("tiny4"));
  tile::Move undefined = move(0, 1, 0, 0, 400);
  undefined.source_tile = TileId();
  hand.program()->exchanges.push_back({hand.name("undefine"), {undefined, move(0, 2, 0, 0, 8)}, {}});
  profile::Report r;
  fill_memory(*hand.program(), hand.library(), r, false, Detail::whole);
  ASSERT_EQ(r.exchanges.size(), 1u);
  EXPECT_EQ(r.exchanges[0].bytes, 8u);
  ASSERT_EQ(r.exchanges[0].traffic.size(), 1u);
  EXPECT_EQ(r.exchanges[0].traffic[0].to, 2u);
}

TEST(MemoryReport, ATileOfNoStreamCountsToo) {
  HandProgram hand = small();
  hand.program()->streams[0].tiles = {TileId(0)};
  EXPECT_EQ(memory_of(hand).tiles[1].used, 250u);
}

// Against the plainest possible count, on random programs.
TEST(MemoryReport, EqualsCountingStepByStep) {
  Random random;
  for (int round = 0; round < 40; ++round) {
    HandProgram hand(*find_machine("tiny4"));
    CodeletId c = hand.codelet("V", VertexKind::multi);
    constexpr std::uint32_t kSteps = 13;
    for (std::uint32_t i = 0; i < kSteps; ++i) hand.compute(0, "s", {{c, 0, 1}});
    tile::Program& p = *hand.program();
    for (std::uint32_t i = 0; i < 6; ++i) {
      auto begin = static_cast<std::uint32_t>(random.below(kSteps)), middle = begin + 1 + static_cast<std::uint32_t>(random.below(4));
      p.live_ranges.push_back({{begin, middle}, {middle + 2, middle + 3}});
    }
    for (std::uint32_t t = 0; t < 4; ++t)
      for (std::uint64_t n = random.below(8), at = 0; n > 0; --n, at += 1000)
        p.allocations.push_back({TileId(t), hand.name("v"), static_cast<tile::Category>(random.below(tile::kCategories)),
                                 random.below(4) == 0, false, at, 1 + random.below(900), static_cast<std::uint32_t>(random.below(6))});
    profile::Report r = memory_of(hand);
    std::vector<std::uint64_t> live(kSteps), worst(kSteps), used(4);
    for (std::uint32_t step = 0; step < kSteps + 8; ++step)
      for (std::uint32_t t = 0; t < 4; ++t) {
        std::uint64_t all = 0;
        for (const tile::Allocation& a : p.allocations) {
          bool now = a.always_live;
          for (auto [begin, end] : p.live_ranges[a.live]) now |= begin <= step && step < end;
          if (a.tile != TileId(t) || !now) continue;
          all += a.size;
          if (!a.always_live && step < kSteps) live[step] += a.size;
        }
        used[t] = std::max(used[t], all);
        if (step < kSteps) worst[step] = std::max(worst[step], all);
      }
    for (std::uint32_t t = 0; t < 4; ++t) {
      EXPECT_EQ(r.tiles[t].used, used[t]);
      std::uint64_t sum = 0;
      for (std::uint64_t b : r.tiles[t].by_category) sum += b;
      EXPECT_EQ(sum, r.tiles[t].used);
    }
    ASSERT_EQ(r.liveness[0].steps.size(), kSteps);
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      EXPECT_EQ(r.liveness[0].steps[step].live_bytes, live[step]);
      EXPECT_EQ(r.liveness[0].steps[step].worst_tile_bytes, worst[step]);
    }
  }
}

TEST(StepRanges, MaxEqualsTheLoop) {
  Random random;
  for (std::size_t n : {1, 2, 3, 17, 64}) {
    RangeMax ranges(n);
    std::vector<std::uint64_t> expected(n);
    for (int i = 0; i < 30; ++i) {
      std::size_t begin = random.below(n + 1), end = begin + random.below(n - begin + 1);
      std::uint64_t v = random.below(1000);
      ranges.raise(begin, end, v);
      for (std::size_t k = begin; k < end; ++k) expected[k] = std::max(expected[k], v);
    }
    EXPECT_EQ(std::move(ranges).values(), expected);
  }
}

}  // namespace
}  // namespace pando::cycles
