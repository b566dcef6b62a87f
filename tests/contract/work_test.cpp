// The execution contract, sentences 10 to 14: work.
#include <algorithm>
#include <numeric>
#include <sstream>

#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;
using testing::ElementsAre;

std::string bytes_of(const tile::Program& program) {
  std::ostringstream out;
  tile::write(program, out);
  return out.str();
}

// 10. A range of a superstep's vertex list may split a tile: two threads share the vertices of one tile.
TEST(Contract10, TwoThreadsShareTheVerticesOfOneTile) {
  Setting s(tiles(1, 1));
  const std::size_t vertices = 64, each = 4096;
  const View x = s.variable("x", std::vector<float>(each, 1), {0}), y = s.variable("y", vertices * 256, {0});
  s.readable("y", y);
  const ComputeSetId set = s.graph.add_compute_set("cs");
  for (std::size_t i = 0; i < vertices; ++i) s.add_vertex(set, x.slice(i, i + 256, 0), y.slice(i * 256, i * 256 + 256, 0), 0);
  const auto runner = s.load(s.compile({make_program(Repeat{3, make_program(Execute{set, {}})})}), 2);
  trace().expect(2);
  runner->run(0);
  EXPECT_EQ(trace().threads(), 2u);
  EXPECT_THAT(Setting::read<float>(*runner, "y", vertices * 256), testing::Each(2));
}

TEST(Contract10, WhatIsAskedForEarlyChangesNoResult) {
  constexpr std::size_t kTiles = 64;  // more than are looked ahead
  Setting s(tiles(1, kTiles));
  s.add_user_codelets();
  std::vector<std::uint32_t> everywhere(kTiles);
  std::iota(everywhere.begin(), everywhere.end(), 0u);
  const View at = s.variable("at", kTiles, everywhere), state = s.variable("state", kTiles, everywhere, ElementType::int_);
  const View count = s.variable("count", kTiles, everywhere, ElementType::unsigned_int);
  s.readable("at", at);
  s.readable("state", state);
  s.readable("count", count);
  std::vector<ProgramPtr> steps;
  for (const char* walk : {"Begin", "GoOn"}) {
    const ComputeSetId set = s.graph.add_compute_set(walk);
    for (std::uint32_t t = 0; t < kTiles; ++t) {
      s.user_vertex(set, t % 3 == 0 ? "Begin" : walk, t, {{"at", at.index(t)}, {"state", state.index(t)}});
      s.user_vertex(set, "Count", t, {{"count", count.index(t)}});
    }
    steps.push_back(make_program(Execute{set, {}}));
  }
  const auto program = s.compile({sequence(steps)});
  for (const bool prefetch_tiles : {false, true})
    for (const unsigned threads : {1u, 2u}) {
      const auto runner = s.load(program, threads, prefetch_tiles);
      runner->run(0);
      const auto ats = Setting::read<float>(*runner, "at", kTiles);
      const auto states = Setting::read<int>(*runner, "state", kTiles);
      for (std::size_t t = 0; t < kTiles; ++t) {
        EXPECT_EQ(ats[t], t % 3 == 0 ? 0 : 13) << "tile " << t;
        EXPECT_EQ(states[t], t % 3 == 0 ? -1 : 0) << "tile " << t << ": two of three suspended twice, the others have a walk already";
      }
      EXPECT_THAT(Setting::read<unsigned>(*runner, "count", kTiles), testing::Each(1212));
    }
}

// Vertices that touch little are not looked ahead of, those that touch megabytes are.
TEST(Contract10, SmallVerticesComputeTheSameNearAndFar) {
  constexpr std::size_t kTiles = 64, kEach = 128;
  for (const std::size_t vertices_of_tile : {1, 48}) {
    Setting s(tiles(1, kTiles));
    std::vector<std::uint32_t> everywhere(kTiles);
    std::iota(everywhere.begin(), everywhere.end(), 0u);
    const std::size_t n = kTiles * vertices_of_tile * kEach;
    std::vector<float> values(n), next(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 1000), next[i] = values[i] + 1;
    const View x = s.variable("x", values, everywhere), y = s.variable("y", n, everywhere);
    s.readable("y", y);
    const ComputeSetId set = s.graph.add_compute_set("cs");
    for (std::size_t i = 0; i < n; i += kEach)
      s.add_vertex(set, x.slice(i, i + kEach, 0), y.slice(i, i + kEach, 0), static_cast<std::uint32_t>(i / (vertices_of_tile * kEach)));
    const auto program = s.compile({make_program(Repeat{2, make_program(Execute{set, {}})})});
    for (const bool prefetch_tiles : {false, true})
      for (const unsigned threads : {1u, 2u}) {
        const auto runner = s.load(program, threads, prefetch_tiles);
        runner->run(0);
        EXPECT_EQ(Setting::read<float>(*runner, "y", n), next);
      }
  }
}

TEST(Contract10, TheCpuDeviceIsOneTileSixWorkersAndUnboundedMemory) {
  const Machine& cpu = *find_machine("cpu");
  EXPECT_EQ(cpu.tiles(), 1u);
  EXPECT_EQ(cpu.workers, 6u);
  EXPECT_FALSE(cpu.bounded_memory);
}

// Every (tile, byte) that moves of an exchange write, one entry per byte written.
std::vector<std::pair<TileId, std::uint64_t>> bytes_written(const std::vector<tile::Move>& moves) {
  std::vector<std::pair<TileId, std::uint64_t>> out;
  for (const tile::Move& m : moves)
    for (std::uint32_t i = 0; i < m.count; ++i)
      for (std::uint32_t b = 0; b < m.bytes; ++b)
        out.emplace_back(m.destination_tile,
                         m.destination + static_cast<std::uint64_t>(static_cast<std::int64_t>(i) * m.destination_step) + b);
  std::sort(out.begin(), out.end());
  return out;
}

// 11. An exchange moves each byte that a tile needs and does not hold once, in no more descriptors than there are maximal
// contiguous runs.
TEST(Contract11, EachNeededByteMovesOnceInFewDescriptors) {
  Setting s(tiles(1, 4));
  std::vector<float> values(64);
  for (std::size_t i = 0; i < 64; ++i) values[i] = static_cast<float>(i);
  const View a = s.variable("a", values, {0, 1, 2, 3}), b = s.variable("b", 64, {3});
  s.readable("b", b);
  // Tile 3 holds a[48, 64) itself; the other 48 elements come in three runs.
  const auto program = s.compile({copy(a, b)});
  std::vector<tile::Move> across;
  for (const tile::Exchange& e : program->exchanges)
    for (const tile::Move& m : e.receive)
      if (m.source_tile != m.destination_tile) across.push_back(m);
  const auto written = bytes_written(across);
  EXPECT_EQ(written.size(), 48u * 4);
  EXPECT_EQ(std::adjacent_find(written.begin(), written.end()), written.end()) << "a byte is received twice";
  EXPECT_EQ(across.size(), 3u);
  const auto runner = s.load(program, 2);
  runner->run(0);
  EXPECT_EQ(Setting::read<float>(*runner, "b", 64), values);
}

TEST(Contract11, ABroadcastIsReceivedOncePerTile) {
  Setting s(tiles(1, 4));
  const View one = s.variable("one", std::vector<float>{5}, {0}), many = s.variable("many", 100, {1});
  s.readable("many", many);
  const auto program = s.compile({copy(one.broadcast(100, 0), many)});
  std::uint64_t sources = 0;
  for (const tile::Exchange& e : program->exchanges)
    for (const tile::Move& m : e.receive)
      if (m.source_tile != m.destination_tile) sources += m.source_step == 0 ? m.bytes : std::uint64_t{m.bytes} * m.count;
  EXPECT_EQ(sources, 4u) << "one float crosses, whatever is written of it";
  const auto runner = s.load(program, 1);
  runner->run(0);
  EXPECT_THAT(Setting::read<float>(*runner, "many", 100), testing::Each(5));
}

TEST(Contract11, NothingCrossesThatIsThereAlready) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4}, {0}), y = s.variable("y", 4, {0});
  s.readable("y", y);
  const auto program = s.compile({s.add(x, y, 0)});
  std::size_t moves = 0;
  for (const tile::Exchange& e : program->exchanges) moves += e.receive.size() + e.arrange.size();
  EXPECT_EQ(moves, 0u);
}

// 12. A read-only operand may be bound to the source's bytes; the tile text says `recv` or `bind`; results stay the same.
TEST(Contract12, OperandsAreReceivedOrBoundAndTheResultsAreTheSame) {
  const auto run = [](bool bind, bool tile_by_tile, std::string& text) {
    Setting s(tiles(1, 4));
    const View x = s.variable("x", {1, 2, 3, 4, 5, 6, 7, 8}, {0}), y = s.variable("y", 8, {1});
    s.readable("y", y);
    compile::Options options;
    options.bind = bind;
    // Tile 0 computes too: one stream, so that no sync stands between the source and its reader.
    const auto program = s.compile({sequence({s.add(x, x, 0), s.add(x, y, 1)})}, options);
    text = tile::print(*program, s.graph.library());
    exec::Options run_options;
    run_options.threads = 2;
    run_options.tile_by_tile = tile_by_tile;
    exec::Runner runner(program, s.graph.library(), run_options);
    runner.run(0);
    EXPECT_THAT(Setting::read<float>(runner, "y", 8), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10));
    std::uint64_t bound = 0;
    for (const tile::ComputeStep& step : program->computes)
      for (const tile::Move& m : step.bound) bound += std::uint64_t{m.bytes} * m.count;
    return bound;
  };
  std::string bound_text, received_text, text;
  EXPECT_EQ(run(true, true, bound_text), 32u);
  EXPECT_EQ(run(false, true, received_text), 0u);
  run(true, false, text);
  EXPECT_NE(bound_text.find("bind"), std::string::npos);
  EXPECT_EQ(received_text.find("bind"), std::string::npos);
  EXPECT_NE(received_text.find("recv"), std::string::npos);
}

// ... and what comes for the next step alone may stay with the thread: 64 tiles gather 64 KiB each.
TEST(Contract12, WhatIsGatheredMayStayNearTheThreadAndTheResultsAreTheSame) {
  constexpr std::uint32_t kTiles = 64, kFloats = 16384;
  Setting s(tiles(1, kTiles));
  std::vector<std::uint32_t> all(kTiles);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<float> values(kTiles * kFloats);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  const View x = s.variable("x", values, all), y = s.variable("y", values.size(), all);
  s.readable("y", y);
  const ComputeSetId set = s.graph.add_compute_set("gathers");
  for (std::uint32_t t = 0; t < kTiles; ++t) {  // the halves of two tiles: no operand is in one piece
    const std::uint32_t next = (t + 1) % kTiles, third = (t + 2) % kTiles, half = kFloats / 2;
    const View a = x.slice(next * kFloats, next * kFloats + half, 0), b = x.slice(third * kFloats + half, third * kFloats + kFloats, 0);
    s.add_vertex(set, View::concat(std::vector<View>{b, a}, 0), y.slice(t * kFloats, t * kFloats + kFloats, 0), t);
  }
  const auto program = s.compile({sequence({make_program(Execute{set, {}}), copy(y.reverse(0), x)})});
  std::vector<float> expected;
  for (const bool near : {false, true})
    for (const unsigned threads : {1u, 2u, 3u}) {
      exec::Options options;
      options.threads = threads;
      options.near_buffers = near;
      exec::Runner runner(program, s.graph.library(), options);
      runner.run(0);
      const std::vector<float> got = Setting::read<float>(runner, "y", values.size());
      if (expected.empty()) expected = got;
      EXPECT_EQ(got, expected) << "near " << near << ", threads " << threads;
      const auto a = std::find_if(program->allocations.begin(), program->allocations.end(), [](const tile::Allocation& b) {
        return b.category == tile::Category::exchange_buffer && b.size >= kFloats * 4;
      });
      ASSERT_NE(a, program->allocations.end());
      const char* const on_tile = runner.tile_base(0, a->tile) + a->offset;
      EXPECT_EQ(std::all_of(on_tile, on_tile + a->size, [](char c) { return c == 0; }), near);
    }
}

TEST(Contract12, AnOperandThatItsOwnerOverwritesInTheSameComputeSetIsNotBoundToIt) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4}, {0}), y = s.variable("y", 4, {1});
  s.readable("y", y);
  s.readable("x", x);
  // The copy comes before the writer of x, the reader of y's source after it.
  const auto program = s.compile({sequence({copy(x, y), s.add(x, x, 0), s.add(y, y, 1)})});
  const auto runner = s.load(program, 2);
  runner->run(0);
  EXPECT_THAT(Setting::read<float>(*runner, "y", 4), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Setting::read<float>(*runner, "x", 4), ElementsAre(2, 3, 4, 5));
}

// 13. Choices follow rules: compiling twice gives the same bytes.
TEST(Contract13, CompilingIsDeterministic) {
  const auto compiled = [] {
    Setting s(tiles(2, 4));
    std::vector<float> values(640, 1);
    const View x = s.variable("x", values, {0, 1, 2, 3, 4, 5, 6, 7}), y = s.variable("y", 640, {7, 6, 5, 4, 3, 2, 1, 0});
    s.readable("y", y);
    const ComputeSetId set = s.graph.add_compute_set("cs");
    for (std::uint32_t t = 0; t < 8; ++t) s.add_vertex(set, x.slice(t * 79, t * 79 + 80, 0), y.slice(t * 80, t * 80 + 80, 0), t);
    return bytes_of(*s.compile({make_program(Execute{set, {}}), copy(y.reverse(0), x)}));
  };
  const std::string first = compiled();
  EXPECT_EQ(first, compiled());
  EXPECT_FALSE(first.empty());
}

class Events final : public tile::StepObserver {
 public:
  void on_begin(unsigned program) override { begun.push_back(program); }
  void on_step(const tile::StepEvent& event) override {
    const std::lock_guard lock(mutex_);
    steps[event.stream.value].push_back(event.instruction);
  }
  void on_end() override { ++ended; }
  std::uint64_t cycles(ReplicaId, StreamId) const override { return 0; }

  std::vector<unsigned> begun;
  std::map<std::uint32_t, std::vector<std::uint32_t>> steps;
  int ended = 0;

 private:
  std::mutex mutex_;
};

// 14. The step observer sees every executed step, in order per stream; a vertex without an estimate is unestimated.
TEST(Contract14, TheObserverSeesEveryStepAndUnestimatedVerticesSaySo) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4}, {0});
  s.readable("x", x);
  const ComputeSetId set = s.graph.add_compute_set("cs");
  s.add_vertex(set, x.slice(0, 2, 0), x.slice(0, 2, 0), 0);
  s.add_vertex(set, x.slice(2, 4, 0), x.slice(2, 4, 0), 0);
  s.graph.set_perf_estimate(VertexId(1), {77, 0});
  const auto program = s.compile({sequence({}), make_program(Repeat{3, make_program(Execute{set, {}})})});
  std::vector<std::uint64_t> cycles;
  for (const tile::VertexInstance& v : program->vertices) cycles.push_back(v.cycles);
  EXPECT_THAT(cycles, testing::UnorderedElementsAre(tile::kUnestimated, 77u));
  Events events;
  const auto runner = s.load(program, 2);
  runner->set_observer(&events);
  runner->run(1);
  EXPECT_THAT(events.begun, ElementsAre(1));
  EXPECT_EQ(events.ended, 1);
  std::size_t computes = 0;
  for (const auto& [stream, instructions] : events.steps)
    for (std::uint32_t i : instructions) computes += program->streams[stream].code[i].op == tile::Op::compute;
  EXPECT_EQ(computes, 3u);
}

}  // namespace
}  // namespace pando::contract
