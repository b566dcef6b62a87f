#include "exec/steps/tile_by_tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "exec/runner.h"
#include "exec/test_kernels.h"

namespace pando::exec {
namespace {

using namespace testing_kernels;
using tile::bytes_of;
using tile::HandMadeVertex;
using tile::Move;
using tile::Op;

TileId t(unsigned n) { return TileId(n); }

struct Hand : tile::HandMade {
  Codelets k;
  StreamId s;
  explicit Hand(unsigned tiles, std::uint64_t bytes = 4096) : HandMade(1, tiles, bytes), k(add_codelets(library)), s(add_ipu(0)) {}
  HandMadeVertex scale(unsigned tile, std::uint64_t in, std::uint64_t out, std::uint32_t n = 8) {
    return {k.scale, t(tile), {{t(tile), n, in}, {t(tile), n, out}}, bytes_of(2.0f)};
  }
  bool may(std::vector<Move> receive, std::vector<HandMadeVertex> vertices, std::vector<Move> arrange = {}) {
    const std::uint32_t x = add_exchange(std::move(receive), std::move(arrange)), c = add_compute(s, std::move(vertices));
    return may_run_tile_by_tile(program, library, program.exchanges[x], program.computes[c]);
  }
};

TEST(TileByTile, OnlyWhereNobodyWritesWhatOthersReceive) {
  Hand p(4);
  const Move halo{t(1), t(0), 0, 64, 32};
  EXPECT_TRUE(p.may({halo}, {p.scale(0, 64, 128), p.scale(1, 0, 128)}));
  EXPECT_TRUE(p.may({halo}, {p.scale(1, 64, 32)})) << "ends where the source begins";
  EXPECT_FALSE(p.may({halo}, {p.scale(0, 64, 128), p.scale(1, 64, 0)})) << "a vertex writes the source";
  EXPECT_FALSE(p.may({halo}, {p.scale(1, 64, 28, 1)})) << "one float of it";
  EXPECT_FALSE(p.may({halo}, {p.scale(1, 64, 0, 1000)})) << "the source lies inside of what is written";
  // In place on the source's tile.
  EXPECT_FALSE(p.may({halo}, {{p.k.add, t(1), {{t(1), 4, 16}}, bytes_of(1.0f)}}));
  EXPECT_TRUE(p.may({halo}, {{p.k.add, t(1), {{t(1), 4, 32}}, bytes_of(1.0f)}}));
}

TEST(TileByTile, ArrangingAndBoundOperandsCount) {
  Hand p(4);
  const Move halo{t(1), t(0), 0, 64, 32};
  EXPECT_TRUE(p.may({halo}, {p.scale(0, 64, 128)}, {{t(0), t(0), 64, 256, 32}}));
  EXPECT_FALSE(p.may({halo}, {p.scale(0, 64, 128)}, {{t(1), t(1), 256, 16, 4}})) << "arranging overwrites the source";
  // Runs of 4 bytes every 8, from 0 on.
  EXPECT_FALSE(p.may({{t(1), t(0), 0, 64, 4, 4, 8, 4}}, {p.scale(1, 64, 24, 1)}));
  // Tile 2 reads on tile 0 what tile 0 receives.
  EXPECT_FALSE(p.may({halo}, {{p.k.scale, t(2), {{t(0), 8, 64}, {t(2), 8, 128}}, bytes_of(2.0f)}}));
  EXPECT_TRUE(p.may({halo}, {{p.k.scale, t(2), {{t(0), 8, 96}, {t(2), 8, 128}}, bytes_of(2.0f)}}));
}

TEST(TileByTile, RangesOfTilesAreSharedOutEvenlyOrNotAtAll) {
  Hand p(64);
  std::vector<Move> receive;
  std::vector<HandMadeVertex> even, one;
  for (unsigned i = 0; i < 64; ++i) {
    receive.push_back({t((i + 1) % 64), t(i), 0, 64, 32});
    even.push_back(p.scale(i, 64, 128, 400));
    one.push_back(p.scale(5, 64, 128, 1000));
  }
  const std::uint32_t x = p.add_exchange(receive), a = p.add_compute(p.s, even), b = p.add_compute(p.s, one);
  const std::vector<TileId> ends = cut_by_tile(p.program, p.library, p.program.exchanges[x], p.program.computes[a], 2);
  EXPECT_GE(ends.size(), 7u);
  EXPECT_LE(ends.size(), 9u);
  EXPECT_EQ(ends.back(), t(64));
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
  EXPECT_THAT(cut_by_tile(p.program, p.library, p.program.exchanges[x], p.program.computes[b], 2), testing::IsEmpty())
      << "all work is on tile 5";
  EXPECT_EQ(cut_by_tile(p.program, p.library, p.program.exchanges[x], p.program.computes[b], 1).back(), t(64));
}

// The bytes of all tiles after `rounds` of a halo exchange with arranging, a step and a copy back.
std::vector<char> run(bool tile_by_tile, unsigned threads, unsigned seed) {
  constexpr unsigned kTiles = 64, kBytes = 1024;
  Hand p(kTiles);
  std::mt19937 random(seed);
  std::vector<Move> receive, arrange, back;
  std::vector<HandMadeVertex> vertices;
  for (unsigned i = 0; i < kTiles; ++i) {
    for (unsigned piece = 0; piece < 4; ++piece) receive.push_back({t(random() % kTiles), t(i), random() % 8 * 32, 256 + piece * 32, 32});
    arrange.push_back({t(i), t(i), 256, 512, 4, 16, 8, 4});
    vertices.push_back(p.scale(i, 256, 640, 32));
    vertices.push_back(p.scale(i, 512, 768, 16));
    back.push_back({t(i), t(i), 640, 0, 192});
  }
  const std::uint32_t x = p.add_exchange(receive, arrange), c = p.add_compute(p.s, vertices), y = p.add_exchange(back);
  EXPECT_TRUE(may_run_tile_by_tile(p.program, p.library, p.program.exchanges[x], p.program.computes[c]));
  p.repeat(p.s, 20, [&] {
    p.emit(p.s, Op::exchange, x);
    p.emit(p.s, Op::compute, c);
    p.emit(p.s, Op::exchange, y);
  });
  p.end_all();
  EXPECT_THAT(tile::verify(p.program, p.library), testing::IsEmpty());
  Options options;
  options.threads = threads;
  options.tile_by_tile = tile_by_tile;
  Runner r(std::make_shared<tile::Program>(p.program), p.library, options);
  for (unsigned i = 0; i < kTiles; ++i)
    for (unsigned f = 0; f < kBytes / 4; ++f) {
      const float value = static_cast<float>(random() % 1000) * 1e-6f;
      std::memcpy(r.tile_base(0, t(i)) + f * 4, &value, 4);
    }
  r.run(0);
  std::vector<char> bytes;
  for (unsigned i = 0; i < kTiles; ++i) bytes.insert(bytes.end(), r.tile_base(0, t(i)), r.tile_base(0, t(i)) + kBytes);
  return bytes;
}

TEST(TileByTile, TheBitsAreTheSameOnAndOff) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const std::vector<char> expected = run(false, 1, seed);
    EXPECT_EQ(run(true, 1, seed), expected);
    EXPECT_EQ(run(true, 2, seed), expected);
    EXPECT_EQ(run(false, 2, seed), expected);
  }
}

TEST(TileByTile, TheStepsResultIsThatOfItsVertices) {
  for (const float limit : {0.5f, 2.0f}) {
    Hand p(64);
    std::vector<Move> receive;
    std::vector<HandMadeVertex> vertices;
    for (unsigned i = 0; i < 64; ++i) {
      receive.push_back({t((i + 1) % 64), t(i), 0, 64, 64});
      for (unsigned k = 0; k < 6; ++k) vertices.push_back({p.k.below, t(i), {{t(i), 1, 64}}, bytes_of(limit), 1000});
    }
    const std::uint32_t x = p.add_exchange(receive), c = p.add_compute(p.s, vertices, tile::Location{t(3), 512, ElementType::unsigned_int});
    p.emit(p.s, Op::exchange, x);
    p.emit(p.s, Op::compute, c);
    p.end_all();
    EXPECT_TRUE(may_run_tile_by_tile(p.program, p.library, p.program.exchanges[x], p.program.computes[c]));
    Runner r(std::make_shared<tile::Program>(p.program), p.library, {});
    const float one = 1;
    std::memcpy(r.tile_base(0, t(9)), &one, 4);  // tile 8 receives it
    const std::uint32_t wrong = 7;
    std::memcpy(r.tile_base(0, t(3)) + 512, &wrong, 4);
    r.run(0);
    std::uint32_t result = 7;
    std::memcpy(&result, r.tile_base(0, t(3)) + 512, 4);
    EXPECT_EQ(result, limit > 1 ? 1u : 0u);
  }
}

// Every tile gathers 48 KiB, each 8 KiB of which one vertex reads; `crossing`: what is arranged goes from one vertex's part to another's.
struct Gathering : Hand {
  static constexpr unsigned kTiles = 64, kVertices = 6;
  static constexpr std::uint32_t kPart = 8192, kBuffer = 64 * 1024, kTile = 256 * 1024;
  std::uint32_t exchange, compute;

  explicit Gathering(bool crossing) : Hand(kTiles, kTile) {
    std::vector<Move> receive, arrange;
    std::vector<HandMadeVertex> vertices;
    for (unsigned i = 0; i < kTiles; ++i) {
      for (std::uint32_t v = 0; v < kVertices; ++v) {
        const std::uint32_t at = kBuffer + v * kPart;
        receive.push_back({t((i * 7 + v) % kTiles), t(i), v * 512, at, 4096});
        receive.push_back({t((i * 3 + v) % kTiles), t(i), v * 64, at + 4096, 2048, 1, 0, 0});
        receive.push_back({t((i + v) % kTiles), t(i), v * 32, at + 6144, 4, 256, 8, 4});
        arrange.push_back({t(i), t(i), at + (crossing && v > 0 ? -kPart : 0), at + 7168, 1024});
        vertices.push_back(scale(i, at, 16384 + v * 4096, 1024));
        vertices.push_back(scale(i, at + 4096, 16384 + kVertices * 4096 + v * 1024, 256));
        vertices.push_back(scale(i, at + 7168, 16384 + kVertices * 5120 + v * 64, 16));
      }
      allocate(t(i), "gathered", kBuffer, kVertices * kPart, {{1, 3}});
    }
    for (tile::Allocation& a : program.allocations) a.category = tile::Category::exchange_buffer;
    exchange = add_exchange(receive, arrange);
    compute = add_compute(s, vertices);
    program.exchanges[exchange].gathers = program.computes[compute].compute_set;
    repeat(s, 3, [&] {
      emit_at(s, 1, Op::exchange, exchange);
      emit_at(s, 2, Op::compute, compute);
    });
    end_all();
  }
  NearBuffers near() const { return BuffersByTime(program).between(1, 2, program.exchanges[exchange], program.computes[compute], library); }
  // The bytes of all tiles, without their buffers, and whether any of those was written.
  std::pair<std::vector<char>, bool> run(unsigned threads, bool near_buffers, bool prefetches = true,
                                         tile::StepObserver* observer = nullptr, bool tile_by_tile = true) const {
    Options options;
    options.tile_by_tile = tile_by_tile;
    options.threads = threads;
    options.near_buffers = near_buffers;
    options.prefetch_tiles = prefetches;
    Runner r(std::make_shared<tile::Program>(program), library, options);
    r.set_observer(observer);
    std::mt19937 random(5);
    for (unsigned i = 0; i < kTiles; ++i)
      for (unsigned f = 0; f < 4096; ++f) {
        const float value = static_cast<float>(random() % 1000) * 1e-3f;
        std::memcpy(r.tile_base(0, t(i)) + f * 4, &value, 4);
      }
    r.run(0);
    std::vector<char> bytes;
    bool written = false;
    for (unsigned i = 0; i < kTiles; ++i) {
      const char* const base = r.tile_base(0, t(i));
      bytes.insert(bytes.end(), base, base + kBuffer);
      written = written || std::any_of(base + kBuffer, base + kBuffer + kVertices * kPart, [](char c) { return c != 0; });
    }
    return {bytes, written};
  }
};

TEST(NearBuffers, WhatComesForTheNextStepAloneStaysOffItsTileAndTheBitsAreTheSame) {
  for (const bool crossing : {false, true}) {
    const Gathering g(crossing);
    EXPECT_EQ(g.near().bytes(), std::uint64_t{Gathering::kTiles} * Gathering::kVertices * Gathering::kPart);
    const auto [expected, written] = g.run(1, false);
    EXPECT_TRUE(written);
    for (const unsigned threads : {1u, 2u, 3u})
      for (const bool prefetches : {true, false}) {
        const auto [bytes, near_written] = g.run(threads, true, prefetches);
        EXPECT_EQ(bytes, expected) << threads << " threads, crossing " << crossing << ", prefetches " << prefetches;
        EXPECT_FALSE(near_written);
      }
  }
}

// What a vertex of Scale reads decides its cycles.
std::uint64_t count_by_inputs(const char* object) {
  const Vec& in = reinterpret_cast<const Scale*>(object)->in;
  return 100 + static_cast<std::uint64_t>(1e3f * in.data[0] + 1e3f * in.data[in.size - 1]);
}

struct Cycles final : tile::StepObserver {
  void on_begin(unsigned) override {}
  void on_step(const tile::StepEvent& event) override { all.insert(all.end(), event.counted.begin(), event.counted.end()); }
  void on_end() override {}
  bool wants_counts() const override { return true; }
  std::uint64_t cycles(ReplicaId, StreamId) const override { return 0; }
  std::vector<std::uint64_t> all;
};

// Vertices that are counted by what they read are so tile by tile, too, and from near buffers.
TEST(NearBuffers, VerticesAreCountedByWhatTheyRead) {
  const Gathering plain(false);
  const auto [expected, _] = plain.run(1, false);
  Gathering g(false);
  auto& scale = const_cast<Codelet&>(g.library[g.k.scale]);
  scale.counting = CountedBy::inputs;
  scale.count = count_by_inputs;
  std::vector<std::uint64_t> cycles;
  for (const unsigned threads : {1u, 2u, 3u})
    for (const bool tile_by_tile : {false, true}) {
      Cycles seen;
      const auto [bytes, written] = g.run(threads, tile_by_tile, true, &seen, tile_by_tile);
      EXPECT_EQ(bytes, expected);
      EXPECT_EQ(written, !tile_by_tile);
      EXPECT_EQ(seen.all.size(), 3 * 3 * Gathering::kTiles * Gathering::kVertices);
      EXPECT_GT(std::set<std::uint64_t>(seen.all.begin(), seen.all.end()).size(), 100u);
      if (cycles.empty()) cycles = seen.all;
      EXPECT_EQ(seen.all, cycles) << threads << " threads, tile by tile " << tile_by_tile;
    }
}

TEST(NearBuffers, ATileIsCutWhereNoVertexAndNoMoveIsOnBothSides) {
  for (const bool crossing : {false, true}) {
    const Gathering g(crossing);
    const std::vector<TileId> ends = {t(32), t(64)};
    const auto blocks_with = [&](const NearBuffers& near) {
      return cut_into_blocks(g.program, g.library, g.program.exchanges[g.exchange], g.program.computes[g.compute], ends, near);
    };
    const TileBlocks whole = blocks_with({}), parts = blocks_with(g.near());
    EXPECT_EQ(whole.ends.size(), 64u);
    EXPECT_TRUE(std::is_sorted(parts.ends.begin(), parts.ends.end()));
    EXPECT_EQ(parts.ends.back().tile, t(64));
    EXPECT_EQ(parts.chunk_end.size(), 2u);
    // Two vertices' 8 KiB are a part.
    EXPECT_EQ(parts.ends.size(), crossing ? 64u : 64u * 3);
    for (const TileBlocks::End& e : parts.ends) EXPECT_EQ(e.address % (2 * Gathering::kPart), 0u);
  }
}

TEST(NearBuffers, NoneThatOthersRead) {
  Gathering g(false);
  g.program.live_ranges[5] = {{1, 4}};  // a later step
  EXPECT_EQ(g.near().find(t(5), Gathering::kBuffer), nullptr);
  EXPECT_NE(g.near().find(t(6), Gathering::kBuffer), nullptr);
  g.program.live_ranges[5] = {{1, 3}, {7, 9}};
  EXPECT_EQ(g.near().find(t(5), Gathering::kBuffer), nullptr);
  g.program.live_ranges[5] = {{1, 3}};
  g.program.exchanges[g.exchange].receive[0].destination -= 4;  // a part of it lies before the buffer
  EXPECT_TRUE(g.near().empty());
}

}  // namespace
}  // namespace pando::exec
