#include "cycles/cycle_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "cycles/hand_program.h"

namespace pando::cycles {
namespace {

Machine machine(const char* name, unsigned ipus = 1) {
  Machine m = *find_machine(name);
  m.ipus = ipus;
  return m;
}

struct Random {
  std::uint64_t state = 1;
  std::uint64_t below(std::uint64_t n) { return ((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 33) % n; }
};

profile::Report report_of(const CycleModel& model) {
  profile::Report r;
  model.fill(r);
  return r;
}

constexpr ReplicaId kFirst{0};

// Runs straight code the way an executor may: streams in any order, a sync when all have come, then its reports in any order.
void run(CycleModel& model, const tile::Program& program, ReplicaId replica, Random random) {
  std::vector<std::uint32_t> next(program.streams.size());
  std::vector<bool> reported(program.streams.size());  // the sync that this stream is at has been left by another already
  auto at_sync = [&](std::size_t s) { return next[s] < program.streams[s].code.size() && program.streams[s].code[next[s]].sync.valid(); };
  auto all_came = [&](std::size_t s) {
    tile::SyncId sync = program.streams[s].code[next[s]].sync;
    for (StreamId m : program.syncs[sync.index()].streams) {
      std::size_t o = m.index();
      if (!reported[o] && !(at_sync(o) && program.streams[o].code[next[o]].sync == sync)) return false;
    }
    return true;
  };
  std::vector<bool> may_leave(program.streams.size());
  for (bool moved = true; moved;) {
    moved = false;
    std::size_t start = random.below(next.size());
    for (std::size_t k = 0; k < next.size(); ++k) {
      std::size_t s = (start + k) % next.size();
      if (next[s] == program.streams[s].code.size()) continue;
      if (at_sync(s) && !may_leave[s]) {
        if (!all_came(s)) continue;
        for (StreamId m : program.syncs[program.streams[s].code[next[s]].sync.index()].streams) may_leave[m.index()] = true;
      }
      may_leave[s] = false;
      model.on_step({replica, StreamId(static_cast<std::uint32_t>(s)), next[s]++});
      moved = true;
      if (random.below(2)) break;
    }
  }
  for (std::size_t s = 0; s < next.size(); ++s) ASSERT_EQ(next[s], program.streams[s].code.size());
}

TEST(CycleModel, ASyncWaitsForItsLatestStream) {
  HandProgram hand(machine("tiny4", 3));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  hand.compute(0, "short", {{c, 0, 19}});
  hand.compute(1, "long", {{c, 4, 919}});
  hand.compute(2, "alone", {{c, 8, 19}});
  hand.exchange({0, 1}, "halo", {move(0, 4, 0, 0, 40)});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  run(model, *hand.program(), kFirst, {});
  model.on_end();
  std::uint64_t sync = 90 + 2 * 40, links = 10;  // before the data cross, and when all have come
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 1000 + sync + links);
  EXPECT_EQ(model.cycles(kFirst, StreamId(1)), 1000 + sync + links);
  EXPECT_EQ(model.cycles(kFirst, StreamId(2)), 100u) << "not in the sync";
  profile::Report r = report_of(model);
  EXPECT_EQ(r.streams[0].cycles.wait, 900u);
  EXPECT_EQ(r.streams[1].cycles.wait, 0u);
  EXPECT_EQ(r.streams[0].cycles.sync, sync);
  EXPECT_EQ(r.streams[0].cycles.global_exchange, links);
  EXPECT_EQ(r.total_cycles, 1000 + sync + links);
}

// A program of random computes, exchanges and syncs over four IPUs.
HandProgram random_program(Random& random) {
  HandProgram hand(machine("tiny4", 4));
  CodeletId c = hand.codelet("V", VertexKind::worker);
  for (int i = 0; i < 40; ++i) {
    auto a = static_cast<std::uint32_t>(random.below(4)), b = static_cast<std::uint32_t>(random.below(4));
    switch (random.below(4)) {
      case 0:
      case 1: hand.compute(a, "c", {{c, a * 4, random.below(500)}, {c, a * 4 + 1, random.below(500)}}); break;
      case 2:
        if (a == b)
          hand.exchange({a}, "x", {move(a * 4, a * 4 + 1, 0, 0, 400)}, {move(a * 4, a * 4, 0, 64, 8)});
        else
          hand.exchange({std::min(a, b), std::max(a, b)}, "x", {move(a * 4, b * 4, 0, 0, 4000)});
        break;
      default: hand.sync({0, 1, 2, 3});
    }
  }
  return hand;
}

// Laws: a sync never ends before its latest stream; a stream's terms add up to its clock; neither clocks nor reports depend on
// the order in which an executor got the streams there.
TEST(CycleModel, LawsOnRandomPrograms) {
  Random random;
  for (int round = 0; round < 50; ++round) {
    HandProgram hand = random_program(random);
    std::vector<profile::Report> reports;
    for (std::uint64_t order = 1; order <= 3; ++order) {
      CycleModel model(hand.program(), hand.library());
      for (int n = 0; n < 2; ++n) {
        model.on_begin(0);
        run(model, *hand.program(), kFirst, {order});
        model.on_end();
      }
      reports.push_back(report_of(model));
      std::vector<std::uint64_t> end_of_slices(4);
      for (const profile::TraceSlice& s : model.trace()) {
        std::size_t stream = static_cast<std::size_t>(s.stream[3] - '0');
        EXPECT_LE(end_of_slices[stream], s.begin);
        EXPECT_LT(s.begin, s.end);
        end_of_slices[stream] = s.end;
      }
    }
    for (const profile::StreamTotals& s : reports[0].streams) EXPECT_EQ(s.cycles.total(), s.finish) << s.stream;
    for (const profile::Report& r : reports) {
      ASSERT_EQ(r.steps.size(), reports[0].steps.size());
      for (std::size_t i = 0; i < r.steps.size(); ++i) {
        EXPECT_EQ(r.steps[i].stream, reports[0].steps[i].stream);
        EXPECT_EQ(r.steps[i].name, reports[0].steps[i].name);
        EXPECT_EQ(r.steps[i].cycles, reports[0].steps[i].cycles);
        EXPECT_EQ(r.steps[i].executions, 2u);
      }
      for (std::size_t s = 0; s < 4; ++s) EXPECT_EQ(r.streams[s].cycles, reports[0].streams[s].cycles);
    }
  }
}

// Law: a slower vertex anywhere never lets any stream end earlier.
TEST(CycleModel, ClocksAreMonotoneInVertexCycles) {
  Random random{7};
  for (int round = 0; round < 30; ++round) {
    HandProgram hand = random_program(random);
    auto ends = [&] {
      CycleModel model(hand.program(), hand.library());
      model.on_begin(0);
      run(model, *hand.program(), kFirst, {});
      std::vector<std::uint64_t> out;
      for (std::uint32_t s = 0; s < 4; ++s) out.push_back(model.cycles(kFirst, StreamId(s)));
      return out;
    };
    if (hand.program()->vertices.empty()) continue;
    std::vector<std::uint64_t> before = ends();
    hand.program()->vertices[random.below(hand.program()->vertices.size())].cycles += 1000;
    std::vector<std::uint64_t> after = ends();
    for (std::size_t s = 0; s < 4; ++s) EXPECT_GE(after[s], before[s]);
  }
}

TEST(CycleModel, RepeatedStepsAreSummed) {
  HandProgram hand(machine("tiny4"));
  CodeletId fast = hand.codelet("Fast", VertexKind::worker), user = hand.codelet("User", VertexKind::worker);
  hand.compute(0, "step", {{fast, 0, 10}, {fast, 1, 20}, {user, 1, tile::kUnestimated}});
  hand.exchange({0}, "halo", {move(0, 1, 0, 0, 40)});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  for (int i = 0; i < 5; ++i)
    for (std::uint32_t n : {0, 1}) model.on_step({kFirst, StreamId(0), n});
  model.on_end();
  profile::Report r = report_of(model);
  ASSERT_EQ(r.steps.size(), 2u);
  EXPECT_EQ(r.steps[0].name, "step");
  EXPECT_EQ(r.steps[0].kind, "compute");
  EXPECT_EQ(r.steps[0].executions, 5u);
  EXPECT_EQ(r.steps[0].cycles.compute, 5u * (81 + 120));
  EXPECT_EQ(r.steps[0].vertices, 15u);
  EXPECT_EQ(r.steps[0].unestimated_vertices, 5u);
  EXPECT_EQ(r.steps[1].exchanged_bytes, 5u * 40);
  EXPECT_EQ(r.steps[1].cycles.sync, 5u * 90);
  ASSERT_EQ(r.codelets.size(), 2u);
  EXPECT_EQ(r.codelets[0].codelet, "Fast");
  EXPECT_EQ(r.codelets[0].cycles, 150u);
  EXPECT_TRUE(r.codelets[0].estimated);
  EXPECT_EQ(r.codelets[1].instances, 5u);
  EXPECT_FALSE(r.codelets[1].estimated);
}

TEST(CycleModel, StampsRunsAndReset) {
  HandProgram hand(machine("tiny4", 2));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  hand.compute(0, "a", {{c, 0, 919}});
  hand.compute(1, "b", {{c, 4, 19}});
  CycleModel model(hand.program(), hand.library());
  EXPECT_FALSE(report_of(model).executed);
  model.on_begin(0);
  model.on_step({kFirst, StreamId(0), 0});
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 1000u);  // what a cycle stamp reads here
  model.on_step({kFirst, StreamId(1), 0});
  model.on_end();
  model.on_begin(0);
  EXPECT_EQ(model.cycles(kFirst, StreamId(1)), 1000u) << "a run begins everywhere at once";
  model.on_step({kFirst, StreamId(1), 0});
  model.on_end();
  profile::Report r = report_of(model);
  EXPECT_EQ(r.runs, 2u);
  EXPECT_EQ(r.total_cycles, 1100u);
  EXPECT_EQ(r.streams[1].cycles.total(), 1100u);
  model.reset();
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 0u);
  EXPECT_FALSE(report_of(model).executed);
  EXPECT_TRUE(report_of(model).steps.empty());
  EXPECT_TRUE(model.trace().empty());
}

TEST(CycleModel, ARunThatStoppedInASyncLeavesNothingBehind) {
  HandProgram hand(machine("tiny4", 2));
  hand.sync({0, 1});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  model.on_step({kFirst, StreamId(0), 0});  // stream 1 never reports
  model.on_end();
  model.on_begin(0);
  std::uint64_t begin = model.cycles(kFirst, StreamId(0));
  run(model, *hand.program(), kFirst, {});
  EXPECT_EQ(model.cycles(kFirst, StreamId(1)), begin + 90 + 40);
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), model.cycles(kFirst, StreamId(1)));
}

TEST(CycleModel, ReplicasHaveClocksOfTheirOwnUntilTheyExchange) {
  HandProgram hand(machine("tiny4"));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  hand.compute(0, "c", {{c, 0, 919}});
  hand.exchange({0}, "all reduce", {move(0, 0, 0, 64, 40)});
  hand.program()->replication = 2;
  hand.program()->replica_maps = {{{0, 1}, {1, 0}}};
  tile::Instruction& across = hand.program()->streams[0].code[1];
  across.op = tile::Op::cross_replica;
  across.b = 0;
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  model.on_step({ReplicaId(1), StreamId(0), 0});
  EXPECT_EQ(model.cycles(ReplicaId(1), StreamId(0)), 1000u);
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 0u);
  model.on_step({kFirst, StreamId(0), 0});
  model.on_step({kFirst, StreamId(0), 0});  // replica 0 is later
  for (std::uint32_t r : {1, 0}) model.on_step({ReplicaId(r), StreamId(0), 1});
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 2000u + 90 + 2 * 40 + 10);
  EXPECT_EQ(model.cycles(ReplicaId(1), StreamId(0)), model.cycles(kFirst, StreamId(0)));
}

// Streams of different threads: for the thread sanitizer, and the clocks have to come out the same.
TEST(CycleModel, StreamsOnThreads) {
  HandProgram hand(machine("tiny4", 2));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  for (std::uint32_t s : {0, 1}) hand.compute(s, "c", {{c, 4 * s, 19 + 100 * s}});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  std::vector<std::thread> threads;
  for (std::uint32_t s : {0, 1})
    threads.emplace_back([&model, s] {
      for (int i = 0; i < 1000; ++i) model.on_step({kFirst, StreamId(s), 0});
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(model.cycles(kFirst, StreamId(0)), 100'000u);
  EXPECT_EQ(model.cycles(kFirst, StreamId(1)), 200'000u);
}

// The last to come lets all go; each reports for itself, at once. Under the thread sanitizer this is the model's only shared state.
TEST(CycleModel, SyncsReportedFromTwoThreads) {
  HandProgram hand(machine("tiny4", 2));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  for (std::uint32_t s : {0, 1}) hand.compute(s, "c", {{c, 4 * s, 19 + 100 * s}});
  hand.sync({0, 1});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  constexpr int kRounds = 300;
  std::barrier sync(2);
  std::vector<std::thread> threads;
  for (std::uint32_t s : {0, 1})
    threads.emplace_back([&, s] {
      for (int i = 0; i < kRounds; ++i) {
        model.on_step({kFirst, StreamId(s), 0});
        sync.arrive_and_wait();
        model.on_step({kFirst, StreamId(s), 1});
      }
    });
  for (std::thread& t : threads) t.join();
  profile::Report r = report_of(model);
  EXPECT_EQ(r.streams[0].finish, kRounds * (200u + 90 + 40));
  EXPECT_EQ(r.streams[1].finish, r.streams[0].finish);
  EXPECT_EQ(r.streams[0].cycles.wait, kRounds * 100u);
  EXPECT_EQ(r.streams[1].cycles.wait, 0u);
}

TEST(CycleModel, TraceKeepsTheFirstSteps) {
  HandProgram hand(machine("tiny4"));
  CodeletId c = hand.codelet("V", VertexKind::multi);
  hand.compute(0, "c", {{c, 0, 19}});
  CycleModel model(hand.program(), hand.library(), {.trace_steps = 3});
  model.on_begin(0);
  for (int i = 0; i < 10; ++i) model.on_step({kFirst, StreamId(0), 0});
  ASSERT_EQ(model.trace().size(), 3u);
  EXPECT_EQ(model.trace()[2].begin, 200u);
  EXPECT_EQ(model.trace()[2].end, 300u);
  EXPECT_EQ(model.trace()[2].name, "c");
}

TEST(CycleModel, LoadedCodeComesFromStreamingMemory) {
  Machine m = machine("tiny4");
  m.clock_hz = 1e9;
  m.streaming_bytes_per_second = 1e9;
  m.streaming_latency_seconds = 0;
  HandProgram hand(m);
  hand.sync({0});
  tile::Program& p = *hand.program();
  p.streams[0].code[0].op = tile::Op::load_code;
  p.streams[0].code[0].order = 5;
  p.live_ranges = {{{5, 9}}, {{6, 9}}};
  tile::NameId code = hand.name("f");
  for (std::uint32_t t : {0, 1})
    p.allocations.push_back({.tile = TileId(t), .name = code, .category = tile::Category::vertex_code, .size = 700, .live = 0});
  p.allocations.push_back({.tile = TileId(2), .name = code, .category = tile::Category::vertex_code, .size = 900, .live = 1});
  CycleModel model(hand.program(), hand.library());
  model.on_begin(0);
  model.on_step({kFirst, StreamId(0), 0});
  EXPECT_EQ(report_of(model).streams[0].cycles.host, 700u);
  EXPECT_EQ(report_of(model).steps[0].kind, "load code");
}

}  // namespace
}  // namespace pando::cycles
