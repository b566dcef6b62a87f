#include "exec/moves/tile_by_tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

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
  explicit Hand(unsigned tiles) : HandMade(1, tiles), k(add_codelets(library)), s(add_ipu(0)) {}
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

}  // namespace
}  // namespace pando::exec
