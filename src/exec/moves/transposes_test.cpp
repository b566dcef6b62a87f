#include "exec/moves/transposes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "exec/moves/move_plan.h"
#include "tile/runs.h"

namespace pando::exec {
namespace {

constexpr std::uint64_t kTileStride = 16 * 1024, kRight = 8 * 1024;  // sources from 0 on, destinations from kRight on

// Where element i is, if a tile has `share` of them.
struct Place {
  TileId tile;
  std::uint64_t offset;
};
Place place_of(std::uint64_t i, std::uint32_t share, std::uint32_t bytes) {
  return {TileId(static_cast<std::uint32_t>(i / share)), i % share * bytes};
}

// A matrix of rows x columns, spread over tiles that begin and end anywhere, into one of columns x rows: runs as long as they can be.
std::vector<tile::Move> transpose(std::uint32_t rows, std::uint32_t columns, std::uint32_t share, std::uint32_t bytes) {
  std::vector<tile::Move> moves;
  for (std::uint32_t c = 0; c < columns; ++c)
    for (std::uint32_t r = 0; r < rows; ++r) {
      const Place from = place_of(std::uint64_t{r} * columns + c, share, bytes), to = place_of(std::uint64_t{c} * rows + r, share, bytes);
      if (!moves.empty()) {
        tile::Move& last = moves.back();
        const std::int64_t step = static_cast<std::int64_t>(from.offset) - static_cast<std::int64_t>(run_of(last, last.count - 1).source);
        if (last.destination_tile == to.tile && last.source_tile == from.tile &&
            kRight + to.offset == last.destination + bytes * last.count && (last.count == 1 || last.source_step == step)) {
          last.source_step = step, last.destination_step = bytes;
          ++last.count;
          continue;
        }
      }
      tile::Move m;
      m.source_tile = from.tile, m.source = from.offset;
      m.destination_tile = to.tile, m.destination = kRight + to.offset;
      m.bytes = bytes;
      moves.push_back(m);
    }
  return moves;
}

std::vector<StridedRun> runs_of(const std::vector<tile::Move>& moves) {
  std::vector<StridedRun> runs;
  for (const tile::Move& m : moves)
    runs.push_back({m.destination_tile.index() * kTileStride + m.destination, m.source_tile.index() * kTileStride + m.source,
                    m.destination_step, m.source_step, m.bytes, m.count});
  return runs;
}

std::uint64_t elements_of(const std::vector<StridedRun>& runs) {
  std::uint64_t sum = 0;
  for (const StridedRun& r : runs) sum += r.count;
  return sum;
}

// One element after the other.
std::vector<char> moved(const std::vector<tile::Move>& moves, std::size_t bytes, const std::vector<char>& from) {
  std::vector<char> to(bytes);
  for (const StridedRun& r : runs_of(moves))
    for (std::uint32_t i = 0; i < r.count; ++i)
      std::memcpy(&to[r.destination + static_cast<std::uint64_t>(r.destination_step * i)],
                  &from[r.source + static_cast<std::uint64_t>(r.source_step * i)], r.bytes);
  return to;
}

std::vector<char> numbers(std::size_t bytes) {
  std::vector<char> out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<char>(i * 37 + i / 251 + 1);
  return out;
}

void expect_same_bytes(const std::vector<tile::Move>& moves, std::size_t bytes, const char* what) {
  const std::vector<char> from = numbers(bytes), expected = moved(moves, bytes, from);
  for (const unsigned chunks : {1u, 7u})
    for (const bool in_blocks : {true, false}) {
      const MovePlan plan = MovePlan::build(moves, kTileStride, chunks, in_blocks);
      std::vector<char> to(bytes);
      plan.run_all(to.data(), from.data());
      EXPECT_EQ(to, expected) << what << ", " << chunks << " chunks" << (in_blocks ? ", in blocks" : "");
      for (unsigned c = 0; c < plan.chunks(); ++c) plan.fill(c, to.data(), 0);
      EXPECT_EQ(to, std::vector<char>(bytes)) << what << ", filled";
    }
}

TEST(Transposes, BlocksOfMatricesOverTiles) {
  struct Case {
    std::uint32_t rows, columns, share, bytes;
  };
  // Tiles that hold 2.7 rows, one row and a part of one, half of one, many rows; elements of all sizes.
  for (const Case c : {Case{300, 280, 811, 4},
                       {300, 280, 301, 4},
                       {280, 300, 150, 4},
                       {97, 211, 1900, 4},
                       {300, 280, 811, 1},
                       {300, 280, 811, 2},
                       {150, 130, 391, 8},
                       {150, 130, 391, 16}}) {
    const std::vector<tile::Move> moves = transpose(c.rows, c.columns, c.share, c.bytes);
    const std::size_t bytes = (std::size_t{c.rows} * c.columns / c.share + 1) * kTileStride;
    const std::string what = std::to_string(c.rows) + " x " + std::to_string(c.columns) + ", " + std::to_string(c.bytes) + " bytes";
    expect_same_bytes(moves, bytes, what.c_str());
    std::vector<StridedRun> rest = runs_of(moves);
    if (rest.size() < 4096) continue;
    const Transposes found = Transposes::take_from(rest);
    // Nearly all of it, but for lines that the end of a tile's memory parts.
    EXPECT_LT(elements_of(rest) * 3, std::uint64_t{c.rows} * c.columns) << what;
    std::uint64_t taken = 0;
    for (std::uint32_t i = 0; i < found.size(); ++i) taken += found.bytes(i) / c.bytes;
    EXPECT_EQ(taken + elements_of(rest), std::uint64_t{c.rows} * c.columns) << what;
  }
}

// Lines with elements of other places between, lines that are missing, and runs that only begin as blocks do.
TEST(Transposes, DamagedMatrices) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t bytes = 1u << below(5), rows = 120 + below(100), columns = 120 + below(100), share = 200 + below(500);
    std::vector<tile::Move> moves = transpose(rows, columns, share, bytes), kept;
    const std::uint32_t every = 2 + below(300);
    const std::uint64_t elements = std::uint64_t{rows} * columns;
    for (tile::Move& m : moves) {
      switch (below(every) == 0 ? below(3) : 3) {
        case 0: break;  // it is missing
        case 1: {       // from elsewhere
          const Place from = place_of(below(static_cast<std::uint32_t>(elements)), share, bytes);
          m.source_tile = from.tile, m.source = from.offset, m.source_step = 0;
          kept.push_back(m);
          break;
        }
        case 2: m.source_step = 0; [[fallthrough]];
        default: kept.push_back(m);
      }
    }
    const std::size_t size = (elements / share + 1) * kTileStride;
    expect_same_bytes(kept, size, ("seed " + std::to_string(seed)).c_str());
  }
}

TEST(Transposes, TakesNothingElse) {
  std::vector<StridedRun> scattered;
  std::mt19937 random(1);
  for (std::uint64_t i = 0; i < 20000; ++i) scattered.push_back({i * 4, (random() % 100000) * 4, 4, 4, 4, 1});
  const std::size_t before = scattered.size();
  EXPECT_EQ(Transposes::take_from(scattered).size(), 0u);
  EXPECT_EQ(scattered.size(), before);
}

}  // namespace
}  // namespace pando::exec
