// The execution contract, sentences 1 to 4: streams.
#include <algorithm>
#include <atomic>

#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;
using testing::ElementsAre;

// 1. A stream is a resumable cursor, not a thread: one thread runs streams that wait for each other both ways.
TEST(Contract01, OneThreadRunsStreamsThatWaitForEachOther) {
  Setting s(tiles(2, 2));
  const View a = s.variable("a", {1, 2, 3, 4}, {0}), b = s.variable("b", 4, {2});
  s.readable("a", a);
  const ProgramPtr there = copy(a, b), back = copy(b, a);
  const ProgramPtr step_b = s.add(b, b, 2), step_a = s.add(a, a, 0);
  const auto program = s.compile({make_program(Repeat{5, sequence({there, step_b, back, step_a})})});
  EXPECT_GE(program->streams.size(), 2u);
  for (unsigned threads : {1u, 2u}) {
    trace().expect(0);
    const auto runner = s.load(program, threads);
    runner->run(0);
    EXPECT_THAT(Setting::read<float>(*runner, "a", 4), ElementsAre(11, 12, 13, 14));
    EXPECT_LE(trace().threads(), threads) << "a fixed team";
  }
}

// 2. Every tile belongs to exactly one stream; groups are inferred from what touches a tile, or said.
TEST(Contract02, TilesBelongToOneStreamAndGroupsAreInferredOrSaid) {
  const auto io_tiles = [](std::optional<bool> said, bool infer) {
    Setting s(tiles(1, 4));
    const View staging = s.variable("staging", 8, {3}), x = s.variable("x", 8, {0, 1});
    s.readable("x", x);
    const FifoId in = s.graph.add_fifo({"in", true, ElementType::float_, 8, ReplicatedFifo::replicate, 1});
    if (said) s.graph.set_tile_group(TileId(3), *said);
    compile::Options options;
    options.infer_io_tiles = infer;
    const auto program = s.compile({sequence({make_program(HostToDevice{in, staging}), copy(staging, x),
                                              s.add(x.slice(0, 4, 0), x.slice(0, 4, 0), 0), s.add(x.slice(4, 8, 0), x.slice(4, 8, 0), 1)})},
                                   options);
    std::vector<std::uint32_t> io;
    std::map<TileId, int> owners;
    for (const tile::Stream& stream : program->streams)
      for (TileId t : stream.tiles) {
        ++owners[t];
        if (stream.io) io.push_back(t.value);
      }
    for (const auto& [tile, count] : owners) EXPECT_EQ(count, 1) << "tile " << tile.value;
    EXPECT_TRUE(owners.contains(TileId(0)) && owners.contains(TileId(1)) && owners.contains(TileId(3)));
    return io;
  };
  EXPECT_THAT(io_tiles(std::nullopt, true), ElementsAre(3)) << "only copies touch it";
  EXPECT_THAT(io_tiles(false, true), ElementsAre()) << "said to be a compute tile";
  EXPECT_THAT(io_tiles(std::nullopt, false), ElementsAre());
  EXPECT_THAT(io_tiles(true, false), ElementsAre(3)) << "said to be an IO tile";
}

// 3. Control flow is uniform within a stream: a predicate on one tile decides for all of the stream and for other streams.
TEST(Contract03, APredicateOnOneTileDecidesForAllStreamsThatTakePart) {
  Setting s(tiles(2, 2));
  const View flag = s.variable("flag", 1, {3}, ElementType::boolean), x = s.variable("x", {0, 0, 0, 0}, {0, 1, 2, 3});
  s.graph.add_host_handle("flag", flag, false, true);
  s.readable("x", x);
  const ComputeSetId set = s.graph.add_compute_set("all");
  for (std::uint32_t t = 0; t < 4; ++t) s.add_vertex(set, x.slice(t, t + 1, 0), x.slice(t, t + 1, 0), t);
  const ProgramPtr step = make_program(Execute{set, {}});
  const auto program = s.compile({make_program(If{flag.index(0), sequence({step, step, step}), step})});
  const auto runner = s.load(program, 2);
  for (char value : {1, 0, 1}) {
    runner->write("flag", &value, &value + 1);
    runner->run(0);
  }
  EXPECT_THAT(Setting::read<float>(*runner, "x", 4), ElementsAre(7, 7, 7, 7));
}

// 4. Host callbacks run one at a time, in a fixed order per handle and by a deterministic rule across handles.
TEST(Contract04, CallbacksRunOneAtATimeInTheSameOrderEveryTime) {
  Setting s(tiles(2, 2));
  std::vector<ProgramPtr> steps;
  for (std::uint32_t t = 0; t < 4; ++t) {
    const View v = s.variable("v" + std::to_string(t), 16, {t});
    const FifoId in = s.graph.add_fifo({"in" + std::to_string(t), true, ElementType::float_, 16, ReplicatedFifo::replicate, 1});
    const FifoId out = s.graph.add_fifo({"out" + std::to_string(t), false, ElementType::float_, 16, ReplicatedFifo::replicate, 1});
    steps.push_back(make_program(HostToDevice{in, v}));
    if (t % 2 == 0) steps.push_back(s.add(v, v, t));
    steps.push_back(make_program(DeviceToHost{out, v}));
  }
  const auto program = s.compile({make_program(Repeat{4, sequence(steps)})});
  std::vector<std::string> orders;
  for (unsigned round = 0; round < 12; ++round) {
    const auto runner = s.load(program, 1 + round % 2);
    std::string order;
    std::atomic<int> inside{0};
    for (char t : {'0', '1', '2', '3'})
      for (const char* kind : {"in", "out"})
        runner->connect(std::string(kind) + t, 0u, std::make_unique<HostEnd>([&order, &inside, kind, t](void* block) {
                          EXPECT_EQ(++inside, 1) << "two callbacks at once";
                          order += *kind;
                          order += t;
                          if (*kind == 'i') std::memset(block, 0, 64);
                          --inside;
                        }));
    runner->run(0);
    orders.push_back(order);
    EXPECT_EQ(order.size(), 4u * 8u * 2u);
  }
  for (const std::string& order : orders) EXPECT_EQ(order, orders[0]);
  std::string per_handle;
  for (std::size_t i = 0; i < orders[0].size(); i += 2)
    if (orders[0][i + 1] == '0') per_handle += orders[0][i];
  EXPECT_EQ(per_handle, "ioioioio");
}

}  // namespace
}  // namespace pando::contract
