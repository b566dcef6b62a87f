#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cycles/hand_program.h"
#include "cycles/links.h"
#include "cycles/step_cost.h"

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

constexpr VertexKind kKinds[] = {VertexKind::worker, VertexKind::multi, VertexKind::supervisor};

ComputeCost compute(const std::vector<HandProgram::Work>& work, std::size_t tiles = 4) {
  HandProgram hand(machine("tiny4"));
  hand.compute(0, "c", work);
  return compute_cost(*hand.program(), hand.program()->computes[0], kKinds, tiles);
}
const CodeletId kWorker{0}, kMulti{1}, kSupervisor{2};

TEST(ComputeCost, SixWorkersLongestFirst) {
  EXPECT_EQ(compute({{kWorker, 0, 10}}).cycles, 81u + 6 * 10);
  EXPECT_EQ(compute({{kWorker, 0, 10}, {kWorker, 0, 30}, {kWorker, 0, 5}}).cycles, 81u + 6 * 30);
  // Seven vertices: in order of arrival the long one would come on top of a short one.
  std::vector<HandProgram::Work> seven(6, {kWorker, 0, 10});
  seven.push_back({kWorker, 0, 20});
  EXPECT_EQ(compute(seven).cycles, 81u + 6 * 20);
  EXPECT_EQ(compute(std::vector<HandProgram::Work>(13, {kWorker, 0, 7})).cycles, 81u + 6 * 21);
}

TEST(ComputeCost, WholeTileVerticesAreInTileCycles) {
  EXPECT_EQ(compute({{kMulti, 0, 100}}).cycles, 81u + 100);
  EXPECT_EQ(compute({{kMulti, 0, 100}, {kSupervisor, 0, 50}}).cycles, 81u + 150);
  EXPECT_EQ(compute({{kWorker, 0, 10}, {kMulti, 0, 100}}).cycles, 81u + 100);
}

TEST(ComputeCost, SlowestTileAndBalance) {
  ComputeCost c = compute({{kMulti, 0, 119}, {kMulti, 2, 19}});
  EXPECT_EQ(c.cycles, 200u);
  EXPECT_DOUBLE_EQ(c.balance, (200 + 100) / 4.0 / 200);
}

TEST(ComputeCost, UnestimatedIsCountedNotGuessed) {
  ComputeCost c = compute({{kWorker, 0, tile::kUnestimated}, {kWorker, 0, 10}, {kMulti, 1, tile::kUnestimated}});
  EXPECT_EQ(c.cycles, 81u + 60);
  EXPECT_EQ(c.vertices, 3u);
  EXPECT_EQ(c.unestimated, 2u);
  ASSERT_EQ(c.codelets.size(), 2u);
  EXPECT_EQ(c.codelets[0].cycles, 10u);
  EXPECT_EQ(c.codelets[0].unestimated, 1u);
  EXPECT_EQ(c.codelets[1].unestimated, 1u);
}

// Law: more cycles of any vertex, or one more vertex, never make a step shorter. (Longest first keeps it for these sizes;
// list scheduling in general does not.)
TEST(ComputeCost, MonotoneInVertexCycles) {
  Random random;
  for (int round = 0; round < 300; ++round) {
    std::vector<HandProgram::Work> work;
    for (std::uint64_t n = 1 + random.below(6); n > 0; --n)
      work.push_back({kWorker, static_cast<std::uint32_t>(random.below(2)), random.below(1000)});
    for (std::uint64_t n = random.below(4); n > 0; --n)
      work.push_back({kMulti, static_cast<std::uint32_t>(random.below(2)), random.below(5000)});
    std::uint64_t before = compute(work).cycles;
    std::vector<HandProgram::Work> more = work;
    more[random.below(more.size())].cycles += random.below(500);
    EXPECT_GE(compute(more).cycles, before);
    more = work;
    more.push_back({kMulti, 1, random.below(100)});
    EXPECT_GE(compute(more).cycles, before);
  }
}

ExchangeCost cost_of(const Machine& m, std::vector<tile::Move> receive, std::vector<tile::Move> arrange = {},
                     Options::Exchange model = Options::Exchange::landing) {
  HandProgram hand(m);
  hand.exchange({0}, "x", std::move(receive), std::move(arrange));
  std::vector<StreamId> stream_of_tile;
  for (std::uint32_t t = 0; t < m.tiles(); ++t) stream_of_tile.push_back(StreamId(t / m.tiles_per_ipu));
  return exchange_cost(*hand.program(), hand.program()->exchanges[0], stream_of_tile, model);
}

TEST(ExchangeCost, LandingAndTheBusiestTile) {
  Machine m = machine("tiny4");
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 400)}).exchange, 53u + 100);
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 3)}).exchange, 53u + 1);  // whole words
  // Tile 2 receives from two: its words add up.
  EXPECT_EQ(cost_of(m, {move(0, 2, 0, 0, 400), move(1, 2, 0, 400, 400)}).exchange, 53u + 200);
  // Tile 0 sends different bytes to two: so do those.
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 400), move(0, 2, 400, 0, 400)}).exchange, 53u + 200);
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 400)}, {}, Options::Exchange::simple).exchange, 100u + 100);
  EXPECT_EQ(cost_of(m, {}).exchange, 0u);
  EXPECT_FALSE(cost_of(m, {}).crosses_tiles);
}

// As of a transpose: more sends than are sorted at once. Each word that a tile sends counts once, counted by hand.
TEST(ExchangeCost, TensOfThousandsOfSmallSends) {
  Machine m = machine("tiny4");
  Random random;
  std::vector<tile::Move> moves;
  std::set<std::pair<std::uint32_t, std::uint64_t>> sent;
  std::vector<std::uint64_t> words(4, 0), received(4, 0);
  for (std::uint32_t to = 0; to < 4; ++to)
    for (std::uint64_t i = 0; i < 9000; ++i) {
      const auto from = static_cast<std::uint32_t>((to + 1 + random.below(3)) % 4);
      const std::uint64_t at = random.below(12000);
      moves.push_back(move(from, to, 4 * at, 4 * i, 4));
      words[from] += sent.insert({from, at}).second;
      ++received[to];
    }
  EXPECT_GT(*std::max_element(words.begin(), words.end()), 5000u);
  const std::uint64_t busiest =
      std::max(*std::max_element(words.begin(), words.end()), *std::max_element(received.begin(), received.end()));
  EXPECT_EQ(cost_of(m, moves, {}, Options::Exchange::simple).exchange, 100u + busiest);
  // One that receives as little as it can: what is sent decides.
  for (tile::Move& one : moves)
    one.source_tile = TileId(one.destination_tile.value == 3 ? 2 : 3), one.source = one.destination + 40000 * one.destination_tile.value;
  EXPECT_EQ(cost_of(m, moves, {}, Options::Exchange::simple).exchange, 100u + 27000);
}

TEST(ExchangeCost, RowsCostTwoCyclesEach) {
  Machine m = machine("ipu2");
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 4)}).exchange, 53u + 1);                // row 0
  EXPECT_EQ(cost_of(m, {move(0, 4 * 22, 0, 0, 4)}).exchange, 53u + 2 * 22 + 1);  // the last row of the first column
  EXPECT_EQ(cost_of(m, {move(0, 4 * 23, 0, 0, 4)}).exchange, 53u + 2 * 22 + 1);  // the snake turns: the same row
}

TEST(ExchangeCost, MulticastIsSentOnce) {
  Machine m = machine("tiny4");
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 400), move(0, 2, 0, 0, 400), move(0, 3, 0, 0, 400)}).exchange, 53u + 100);
  // Overlapping sources: [0, 400) and [200, 600) are 600 bytes.
  EXPECT_EQ(cost_of(m, {move(0, 1, 0, 0, 400), move(0, 2, 200, 0, 400)}).exchange, 53u + 150);
  // Strided runs: equal ones are one send.
  tile::Move strided = move(0, 1, 0, 0, 4);
  strided.count = 50;
  strided.source_step = 16;
  strided.destination_step = 4;
  tile::Move other = strided;
  other.destination_tile = TileId(2);
  EXPECT_EQ(cost_of(m, {strided, other}).exchange, 53u + 50);
  other.source = 4;
  EXPECT_EQ(cost_of(m, {strided, other}).exchange, 53u + 100);
  // A run that is received once and written often.
  tile::Move repeated = strided;
  repeated.source_step = 0;
  ExchangeCost c = cost_of(m, {repeated});
  EXPECT_EQ(c.exchange, 53u + 1);
  EXPECT_EQ(c.received[0], 4u);
}

TEST(ExchangeCost, PairsThatReceiveTheSameShareTheBus) {
  Machine m = machine("tiny4");
  auto both = [&](std::uint32_t a, std::uint32_t b, std::uint32_t bytes) {
    return cost_of(m, {move(0, a, 0, 0, bytes), move(0, b, 0, 0, bytes)}).exchange;
  };
  // The sender bounds a multicast from one tile; from two, the receivers do.
  auto from_two = [&](std::uint32_t a, std::uint32_t b, std::uint32_t bytes) {
    return cost_of(m, {move(0, a, 0, 0, bytes), move(1, a, 0, bytes, bytes), move(0, b, 0, 0, bytes), move(1, b, 0, bytes, bytes)})
        .exchange;
  };
  EXPECT_EQ(both(2, 3, 400), 53u + 100);
  EXPECT_EQ(from_two(2, 3, 400), 53u + 100);
  EXPECT_EQ(from_two(2, 3, 200), 53u + 100) << "less than 64 words in one piece do not share";
  m.exchange_bus_sharing = false;
  EXPECT_EQ(from_two(2, 3, 400), 53u + 200);
}

TEST(ExchangeCost, LocalCopies) {
  Machine m = machine("tiny4");
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 0, 8192, 800)}).local_copy, 288u + 100);
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 0, 8192, 800), move(0, 0, 1000, 9000, 8)}).local_copy, 288u + 101) << "one call per tile";
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 0, 8192, 800), move(1, 1, 0, 8192, 1600)}).local_copy, 288u + 200) << "tiles copy at once";
  ExchangeCost c = cost_of(m, {move(0, 0, 0, 64, 16)}, {move(0, 0, 64, 128, 16)});
  EXPECT_EQ(c.local_copy, 2 * 288u + 4);
  EXPECT_EQ(c.exchange, 0u);
  EXPECT_FALSE(c.crosses_tiles);
}

// Rows that move by a word, as those of a grid that get a halo on their left do.
TEST(ExchangeCost, CopiesBetweenPlacesThatDifferModulo8GoWordByWord) {
  Machine m = machine("tiny4");
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 4, 8196, 800)}).local_copy, 288u + 100);
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 0, 8196, 800)}).local_copy, 288u + 400) << "200 words: a load and a store each";
  EXPECT_EQ(cost_of(m, {}, {move(0, 0, 0, 8194, 6)}).local_copy, 288u + 4);
  tile::Move rows = move(0, 0, 0, 8192, 40);
  rows.count = 20;
  rows.source_step = 40;
  rows.destination_step = 48;
  EXPECT_EQ(cost_of(m, {}, {rows}).local_copy, 288u + 20 * 5);
  rows.destination_step = 44;  // every other row moves by a word
  EXPECT_EQ(cost_of(m, {}, {rows}).local_copy, 288u + 10 * 5 + 10 * 20);
}

// Law: more bytes, or one more move, never make an exchange shorter.
TEST(ExchangeCost, MonotoneInBytes) {
  Random random;
  Machine m = machine("tiny4", 2);
  for (int round = 0; round < 300; ++round) {
    std::vector<tile::Move> moves;
    for (std::uint32_t t = 0; t < 8; ++t)
      for (std::uint64_t n = random.below(3), at = 0; n > 0; --n, at += 4000) {
        auto source = static_cast<std::uint32_t>(random.below(8));
        moves.push_back(move(source, t, random.below(4) * 100, 100'000 + at, static_cast<std::uint32_t>(1 + random.below(2000))));
      }
    if (moves.empty()) continue;
    // The pair rule pays for equal data: only growth of data that no pair shares is monotone.
    m.exchange_bus_sharing = false;
    ExchangeCost before = cost_of(m, moves);
    moves[random.below(moves.size())].bytes += static_cast<std::uint32_t>(random.below(1000));
    ExchangeCost after = cost_of(m, moves);
    EXPECT_GE(after.exchange, before.exchange);
    EXPECT_GE(after.global_exchange, before.global_exchange);
    EXPECT_GE(after.local_copy, before.local_copy);
  }
}

// Law: sharing never makes an exchange longer.
TEST(ExchangeCost, SharingOnlyHelps) {
  Random random;
  for (int round = 0; round < 200; ++round) {
    std::vector<tile::Move> moves;
    for (std::uint32_t t = 0; t < 4; ++t)
      for (std::uint32_t i = 0; i < 3; ++i)
        moves.push_back(move(static_cast<std::uint32_t>(random.below(4)), t, random.below(2) * 512, 4096 + i * 512, 512));
    Machine m = machine("tiny4");
    std::uint64_t with = cost_of(m, moves).exchange;
    m.exchange_bus_sharing = false;
    EXPECT_LE(with, cost_of(m, moves).exchange);
  }
}

TEST(Links, Ladder) {
  Machine m = machine("ipu1", 16);
  double per_link = 128.0 * (1ull << 30) / 8 * 0.85;
  auto cycles = [&](double bytes) { return static_cast<std::uint64_t>(std::ceil(bytes / per_link * 1.6e9)); };
  constexpr std::uint64_t kBytes = 1'000'000;
  EXPECT_EQ(link_cycles(m, {}), 0u);
  EXPECT_EQ(link_cycles(m, {{0, 1, kBytes}}), cycles(kBytes / 4.0));                  // in the card: 4 links
  EXPECT_EQ(link_cycles(m, {{0, 1, kBytes}, {1, 0, kBytes}}), cycles(kBytes / 4.0));  // directions are apart
  EXPECT_EQ(link_cycles(m, {{0, 2, kBytes}}), cycles(kBytes / 2.0));                  // up: 2
  EXPECT_EQ(link_cycles(m, {{0, 2, kBytes}, {1, 3, kBytes}}), cycles(kBytes / 2.0));  // two rails
  EXPECT_EQ(link_cycles(m, {{0, 14, kBytes}, {2, 4, kBytes}}), cycles(kBytes));       // share a piece of one rail
  EXPECT_EQ(link_cycles(m, {{0, 3, kBytes}, {5, 2, kBytes}}), cycles(kBytes / 2.0));  // across the card of the end, both ways
  EXPECT_EQ(link_cycles(m, {{0, 3, kBytes}, {4, 3, kBytes}}), cycles(kBytes)) << "both cross to IPU 3";
}

TEST(Links, GlobalSync) {
  EXPECT_EQ(global_sync_cycles(machine("ipu1"), 16), 240u);  // the published example
  EXPECT_EQ(global_sync_cycles(machine("ipu1"), 1), 0u);
  for (unsigned n = 1; n < 64; ++n) EXPECT_LE(global_sync_cycles(machine("ipu2"), n), global_sync_cycles(machine("ipu2"), n + 1));
}

TEST(ExchangeCost, BetweenIpus) {
  Machine m = machine("tiny4", 2);
  ExchangeCost c = cost_of(m, {move(0, 1, 0, 0, 40), move(0, 4, 0, 0, 40'000), move(1, 5, 0, 0, 40'000)});
  EXPECT_TRUE(c.crosses_ipus);
  EXPECT_EQ(c.exchange, 53u + 10);
  EXPECT_EQ(c.global_exchange, 10'000u) << "one tile's 40,000 bytes take longer than 80,000 over four links";
  ASSERT_EQ(c.received.size(), 2u);
  EXPECT_EQ(c.received[0], 40u);
  EXPECT_EQ(c.received[1], 80'000u);
}

TEST(TransferCost, BytesOfTheBusiestIpu) {
  Machine m = machine("tiny4", 2);
  m.clock_hz = 1e9;
  m.host_bytes_per_second = 1e9;
  m.host_latency_seconds = 1e-6;
  m.streaming_bytes_per_second = 2e9;
  m.streaming_latency_seconds = 0;
  HandProgram hand(m);
  tile::Transfer t;
  t.host_bytes = 5000;
  t.moves = {move(0, 0, 0, 0, 2000), move(0, 1, 2000, 0, 1000), move(0, 4, 3000, 0, 2000)};
  for (tile::Move& x : t.moves) x.source_tile = TileId();
  EXPECT_EQ(transfer_cycles(*hand.program(), t), 1000u + 3000);
  t.kind = tile::Transfer::Kind::remote;
  EXPECT_EQ(transfer_cycles(*hand.program(), t), 1500u);
  t.host_bytes = 500;  // a broadcast passes the host once
  EXPECT_EQ(transfer_cycles(*hand.program(), t), 250u);
  t.moves.clear();
  EXPECT_EQ(transfer_cycles(*hand.program(), t), 0u);
}

}  // namespace
}  // namespace pando::cycles
