// The execution contract, sentence 8: transfers with a capacity own slots at both ends; their sender is at most so many blocks ahead.
#include "cycles/cycle_model.h"
#include "graph/interpreter.h"
#include "poplar/exceptions.hpp"
#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;
using testing::ElementsAre;
using testing::HasSubstr;

ProgramPtr send(ChannelId channel, const View& v, const std::string& name = "") { return make_program(Send{channel, v}, name); }
ProgramPtr receive(ChannelId channel, const View& v, const std::string& name = "") { return make_program(Receive{channel, v}, name); }
ProgramPtr repeat(std::uint64_t count, std::vector<ProgramPtr> body) { return make_program(Repeat{count, sequence(std::move(body))}); }
ChannelId channel(Setting& s, const std::string& name, std::uint64_t elements, unsigned capacity) {
  return s.graph.add_channel({name, ElementType::float_, elements, capacity});
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const poplar::control_program_error& e) { return e.what(); }
  return "no error";
}

// A stage on each IPU: adds 1 to each of eight numbers, which come from the stage before and go to the next one. The host reads what the
// last one has.
struct Pipeline {
  static constexpr unsigned kRounds = 7, kElements = 8;
  Pipeline(unsigned ipus, unsigned capacity, unsigned replicas) : s(tiles(ipus, 4), replicas) {
    std::vector<ProgramPtr> round;
    const FifoId in = s.graph.add_fifo({"in", true, ElementType::float_, kElements, ReplicatedFifo::replicate, 1});
    const FifoId out = s.graph.add_fifo({"out", false, ElementType::float_, kElements, ReplicatedFifo::replicate, 1});
    std::vector<ChannelId> channels;
    for (unsigned i = 0; i + 1 < ipus; ++i) channels.push_back(channel(s, "acts" + std::to_string(i), kElements, capacity));
    for (unsigned i = 0; i < ipus; ++i) {
      const std::uint32_t first = 4 * i;
      const View x = s.variable("x" + std::to_string(i), kElements, {first, first + 1, first + 2});
      const View y = s.variable("y" + std::to_string(i), kElements, {first + 3, first + 1});
      round.push_back(i == 0 ? make_program(HostToDevice{in, x}) : receive(channels[i - 1], x.reverse(0)));
      const ComputeSetId set = s.graph.add_compute_set("stage" + std::to_string(i));
      for (unsigned k = 0; k < kElements; ++k) s.add_vertex(set, x.slice(k, k + 1, 0), y.slice(k, k + 1, 0), first + 3 - k % 2 * 2);
      round.push_back(make_program(Execute{set, {}}));
      round.push_back(i + 1 == ipus ? make_program(DeviceToHost{out, y}) : send(channels[i], y));
    }
    program = repeat(kRounds, std::move(round));
  }

  static float input(unsigned replica, unsigned block, unsigned i) { return static_cast<float>(1000 * replica + 10 * block + i); }

  std::vector<std::vector<float>> run(unsigned threads) {
    const auto runner = s.load(compiled ? compiled : compiled = s.compile({program}), threads);
    std::vector<std::vector<float>> out(s.graph.replication_factor());
    for (unsigned r = 0; r < out.size(); ++r) {
      runner->connect("in", r, std::make_unique<HostEnd>([r, block = 0u](void* to) mutable {
                        for (unsigned i = 0; i < kElements; ++i) static_cast<float*>(to)[i] = input(r, block, i);
                        ++block;
                      }));
      runner->connect("out", r, std::make_unique<HostEnd>([&out, r](void* from) {
                        out[r].insert(out[r].end(), static_cast<float*>(from), static_cast<float*>(from) + kElements);
                      }));
    }
    runner->run(0);
    return out;
  }

  // By the naive interpreter, in the program's own order.
  std::vector<std::vector<float>> reference() {
    std::vector<std::vector<float>> out(s.graph.replication_factor());
    std::vector<unsigned> blocks(out.size());
    Interpreter naive(s.graph);
    naive.connect("in", [&](unsigned r, Values& block) {
      for (unsigned i = 0; i < kElements; ++i) {
        const float value = input(r, blocks[r], i);
        std::memcpy(block.bytes.data() + 4 * i, &value, 4);
      }
      ++blocks[r];
    });
    naive.connect("out", [&](unsigned r, Values& block) {
      out[r].resize(out[r].size() + kElements);
      std::memcpy(&*out[r].end() - kElements, block.bytes.data(), 4 * kElements);
    });
    naive.run(program);
    return out;
  }

  Setting s;
  ProgramPtr program;
  std::shared_ptr<const tile::Program> compiled;
};

TEST(Contract08, APipelineGivesTheSameBitsForAnyCapacityAndThreads) {
  for (const unsigned ipus : {2u, 3u, 4u})
    for (const unsigned capacity : {0u, 1u, 3u})
      for (const unsigned replicas : {1u, 2u}) {
        Pipeline p(ipus, capacity, replicas);
        const auto expected = p.reference();
        EXPECT_EQ(expected[0].size(), Pipeline::kRounds * Pipeline::kElements);
        for (const unsigned threads : {1u, 2u, 5u})
          EXPECT_EQ(p.run(threads), expected) << ipus << " IPUs, capacity " << capacity << ", threads " << threads;
      }
}

// Slots are in the tiles' memory, always live, at both ends; without a capacity there are none.
TEST(Contract08, SlotsAreAccountedAtBothEnds) {
  for (const unsigned capacity : {0u, 1u, 3u}) {
    Pipeline p(2, capacity, 1);
    const auto program = p.s.compile({p.program});
    // y0 lies on two tiles, four floats each; x1 on three, at most four each.
    const auto sent = allocations(*program, "acts0/sent"), received = allocations(*program, "acts0/received");
    EXPECT_EQ(sent.size(), capacity == 0 ? 0u : 2u);
    EXPECT_EQ(received.size(), capacity == 0 ? 0u : 3u);
    for (const auto* list : {&sent, &received})
      for (const tile::Allocation& a : *list) {
        EXPECT_EQ(a.size, 16 * capacity);
        EXPECT_TRUE(a.always_live);
      }
    const std::string text = tile::print(*program, p.s.graph.library());
    EXPECT_THAT(text, HasSubstr("send k0 from p0"));
    EXPECT_THAT(text, HasSubstr("receive k0 to p0"));
    EXPECT_THAT(text, HasSubstr("channel k0 \"acts0\": s0 -> s2, 32 bytes, capacity " + std::to_string(capacity)));
  }
}

TEST(Contract08, TheTextsShowChannels) {
  Setting s(tiles(2, 2));
  const View a = s.variable("a", {1, 2, 3, 4}, {0, 1}), b = s.variable("b", 4, {2});
  s.readable("b", b);
  const ChannelId waits = channel(s, "waits", 4, 0), runs = channel(s, "runs", 4, 2);
  const std::vector<ProgramPtr> programs = {
      sequence({send(waits, a, "first"), receive(waits, b), send(runs, a.reverse(0)), receive(runs, b)})};
  expect_golden("graph/channels.txt", print(s.graph, programs));
  expect_golden("tile/channels.txt", tile::print(*s.compile(programs), s.graph.library()));
}

// What is sent and not received waits for the next run; no more than the capacity is ever sent.
TEST(Contract08, TheSenderIsAtMostTheCapacityAhead) {
  Setting s(tiles(2, 1));
  const View a = s.variable("a", {0, 10}, {0}), b = s.variable("b", 2, {1});
  s.readable("a", a);
  s.readable("b", b);
  const ChannelId c = channel(s, "ahead", 2, 3);
  const ProgramPtr one = sequence({s.add(a, a, 0), send(c, a, "give")});
  const auto program = s.compile({repeat(3, {one}), receive(c, b), repeat(9, {one})});
  for (const unsigned threads : {1u, 2u}) {
    const auto runner = s.load(program, threads);
    runner->run(0);
    runner->run(1);
    EXPECT_THAT(Setting::read<float>(*runner, "b", 2), ElementsAre(1, 11));
    runner->run(0 + 1);
    EXPECT_THAT(Setting::read<float>(*runner, "b", 2), ElementsAre(2, 12));
    const std::string error = error_of([&] { runner->run(2); });  // one is in there
    EXPECT_THAT(error, HasSubstr("stream 'ipu0.compute' waits at step"));
    EXPECT_THAT(
        error,
        HasSubstr(
            "'give', 'send k0 from p0', to send through channel 'ahead', which is full: 'ipu1.compute' has 3 of 3 blocks to receive"));
    EXPECT_THAT(Setting::read<float>(*runner, "a", 2), ElementsAre(6, 16)) << "three rounds, two blocks, and one more computed";
    // After an error the channel is empty.
    EXPECT_THAT(error_of([&] { runner->run(1); }),
                HasSubstr("'receive k0 to p0', to receive from channel 'ahead', which is empty: 'ipu0.compute' sends nothing"));
    runner->run(0);
    runner->run(1);
    EXPECT_THAT(Setting::read<float>(*runner, "b", 2), ElementsAre(7, 17));
  }
}

// A circle of waits is an error that names streams and steps.
TEST(Contract08, ADeadlockIsAnErrorThatNamesWhoWaits) {
  for (const unsigned capacity : {0u, 1u}) {
    Setting s(tiles(2, 1));
    const View a = s.variable("a", std::vector<float>{1}, {0}), b = s.variable("b", std::vector<float>{2}, {1}),
               a2 = s.variable("a2", 1, {0}), b2 = s.variable("b2", 1, {1});
    s.readable("a2", a2);
    const ChannelId there = channel(s, "there", 1, capacity), back = channel(s, "back", 1, capacity);
    const auto program = s.compile(
        {sequence({send(there, a, "give a"), send(back, b, "give b"), receive(back, a2, "take b"), receive(there, b2, "take a")})});
    for (const unsigned threads : {1u, 2u}) {
      const auto runner = s.load(program, threads);
      const std::string error = error_of([&] { runner->run(0); });
      if (capacity > 0) {
        EXPECT_EQ(error, "no error");
        EXPECT_THAT(Setting::read<float>(*runner, "a2", 1), ElementsAre(2));
        continue;
      }
      EXPECT_THAT(error, HasSubstr("streams wait for each other"));
      EXPECT_THAT(error, HasSubstr("stream 'ipu0.compute' waits at step 0 'give a', 'send k0 from p0', to send through channel 'there', "
                                   "where 'ipu1.compute' does not come"));
      EXPECT_THAT(error, HasSubstr("stream 'ipu1.compute' waits at step 1 'give b', 'send k1 from p0', to send through channel 'back'"));
    }
  }
}

TEST(Contract08, MisuseOfChannelsIsRejected) {
  Setting s(tiles(2, 2));
  const View a = s.variable("a", {1, 2}, {0}), b = s.variable("b", 2, {2}), wide = s.variable("wide", 2, {1, 3}),
             ints = s.variable("ints", 2, {0}, ElementType::int_);
  const View far = s.variable("far", 2, {3}), here = s.variable("here", 2, {1});
  const ChannelId c = channel(s, "c", 2, 1);
  const auto error = [&](std::vector<ProgramPtr> steps) { return error_of([&] { s.compile({sequence(std::move(steps))}); }); };
  EXPECT_THAT(error({send(c, a), receive(c, b), receive(c, far)}), "no error");
  EXPECT_THAT(error({send(c, wide), receive(c, b)}), HasSubstr("[channel-end]"));
  EXPECT_THAT(error({send(c, a), send(c, b), receive(c, b)}), HasSubstr("[channel-end]"));
  EXPECT_THAT(error({send(c, a), receive(c, here)}), HasSubstr("[channel-end]"));
  EXPECT_THAT(error({send(c, a)}), HasSubstr("the programs send through it, and never receive"));
  EXPECT_THAT(error({receive(c, b)}), HasSubstr("[channel-one-end]"));
  EXPECT_THAT(error({send(c, View::concat(std::vector<View>{a.slice(0, 1, 0), a.slice(0, 1, 0)}, 0)), receive(c, b)}),
              HasSubstr("[send-of-aliases]"));
  EXPECT_THAT(error({send(c, a.slice(0, 1, 0)), receive(c, b)}), HasSubstr("[copy-sizes]"));
  EXPECT_THAT(error({send(ChannelId(7), a), receive(c, b)}), HasSubstr("[unknown-object]"));
  EXPECT_THROW(s.compile({sequence({send(c, ints), receive(c, b)})}), poplar::type_error);
  EXPECT_THROW(channel(s, "none", 0, 1), poplar::graph_object_creation_error);
}

// Stages whose rounds are long and short by turns: with slots between them they wait less. The clocks are the same for any number of
// threads.
TEST(Contract08, SlotsLetUnevenStagesWaitLess) {
  std::vector<std::uint64_t> totals;
  for (const unsigned capacity : {0u, 1u, 3u}) {
    Setting s(tiles(2, 1));
    const View x = s.variable("x", std::vector<float>{1}, {0}), y = s.variable("y", 1, {1});
    s.readable("y", y);
    const ChannelId c = channel(s, "c", 1, capacity);
    const auto busy = [&](const View& v, std::uint32_t tile, std::uint64_t cycles) {
      const ProgramPtr step = s.add(v, v, tile);
      s.graph.set_perf_estimate(VertexId(static_cast<std::uint32_t>(s.graph.vertices().size() - 1)), {cycles, 0});
      return step;
    };
    const ProgramPtr slow_x = busy(x, 0, 20000), fast_x = busy(x, 0, 1000), slow_y = busy(y, 1, 20000), fast_y = busy(y, 1, 1000);
    std::vector<ProgramPtr> round;
    for (int i = 0; i < 3; ++i) round.insert(round.end(), {slow_x, send(c, x), receive(c, y), fast_y});
    for (int i = 0; i < 3; ++i) round.insert(round.end(), {fast_x, send(c, x), receive(c, y), slow_y});
    const auto program = s.compile({repeat(10, round)});
    std::vector<std::uint64_t> cycles;
    for (const unsigned threads : {1u, 2u, 4u}) {
      const auto runner = s.load(program, threads);
      cycles::CycleModel model(program, s.graph.library());
      runner->set_observer(&model);
      runner->run(0);
      cycles.push_back(std::max(model.cycles(ReplicaId(0), StreamId(0)), model.cycles(ReplicaId(0), StreamId(1))));
      profile::Report report;
      model.fill(report);
      for (const auto& stream : report.streams) EXPECT_EQ(stream.cycles.total(), stream.finish) << stream.stream;
    }
    EXPECT_THAT(cycles, testing::Each(cycles[0]));
    totals.push_back(cycles[0]);
  }
  EXPECT_LE(totals[1], totals[0]);
  EXPECT_LT(totals[2], totals[0] * 9 / 10);
}

}  // namespace
}  // namespace pando::contract
