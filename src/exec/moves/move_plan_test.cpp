#include "exec/moves/move_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pando::exec {
namespace {

// Columns of a matrix that become rows, and rows that become columns: the narrow runs that are moved side by side.
TEST(MovePlan, MatricesChangeRowsAndColumns) {
  for (const std::uint32_t bytes : {1u, 4u, 8u, 16u, 32u})
    for (const std::uint32_t rows : {3u, 64u, 65u, 200u})
      for (const std::uint32_t columns : {1u, 2u, 63u, 130u})
        for (const bool gathers : {true, false})
          for (const unsigned chunks : {1u, 5u}) {
            std::vector<tile::Move> moves;
            for (std::uint32_t c = 0; c < columns; ++c) {
              tile::Move m;
              m.bytes = bytes;
              m.count = rows;
              const std::uint64_t narrow = std::uint64_t{c} * bytes, wide = std::uint64_t{c} * rows * bytes;
              m.source = gathers ? narrow : wide;
              m.destination = gathers ? wide : narrow;
              m.source_step = gathers ? static_cast<std::int64_t>(columns) * bytes : bytes;
              m.destination_step = gathers ? bytes : static_cast<std::int64_t>(columns) * bytes;
              moves.push_back(m);
            }
            std::vector<char> from(std::size_t{rows} * columns * bytes), to(from.size()), expected(from.size());
            for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 251);
            for (std::size_t r = 0; r < rows; ++r)
              for (std::size_t c = 0; c < columns; ++c)
                for (std::size_t b = 0; b < bytes; ++b) {
                  const std::size_t by_rows = (r * columns + c) * bytes + b, by_columns = (c * rows + r) * bytes + b;
                  expected[gathers ? by_columns : by_rows] = from[gathers ? by_rows : by_columns];
                }
            MovePlan::build(moves, 0, chunks).run_all(to.data(), from.data());
            EXPECT_EQ(to, expected) << bytes << " bytes, " << rows << " x " << columns << (gathers ? " gathered" : " scattered");
          }
}

// A transpose in pieces of one element over tiles of 40 KiB: far more than goes in the order of the moves.
TEST(MovePlan, ScatteredMovesInBlocksAndInOrderAreTheSame) {
  constexpr std::uint32_t kSide = 160, kTiles = 160;
  constexpr std::uint64_t kStride = 40 * 1024, kRight = 8 * 1024;  // sources from 0 on, destinations from kRight on
  std::vector<tile::Move> moves;
  for (std::uint32_t i = 0; i < kTiles; ++i)
    for (std::uint32_t j = 0; j < kSide; ++j) {
      tile::Move m;
      m.source_tile = TileId(j);
      m.destination_tile = TileId(i);
      m.source = i * 4;
      m.destination = kRight + j * 4;
      m.bytes = 4;
      moves.push_back(m);
    }
  std::vector<char> from(kTiles * kStride), in_order(from.size()), in_blocks(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 251);
  for (const unsigned chunks : {1u, 7u}) {
    MovePlan::build(moves, kStride, chunks, false).run_all(in_order.data(), from.data());
    MovePlan::build(moves, kStride, chunks, true).run_all(in_blocks.data(), from.data());
    EXPECT_EQ(in_order, in_blocks);
    for (std::uint32_t j = 0; j < kSide; ++j)
      EXPECT_EQ(std::memcmp(&in_order[3 * kStride + kRight + j * 4], &from[j * kStride + 12], 4), 0) << j;
  }
}

// Short runs at equal steps, of lengths that change, backwards too, and one with other steps between: in families and one by one.
TEST(MovePlan, FamiliesOfShortRuns) {
  for (const std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u, 3u})
    for (const std::int64_t step : {1, -1, 3}) {
      constexpr std::uint32_t kRuns = 500, kMost = 5, kRoom = 64;
      std::vector<tile::Move> moves;
      for (std::uint32_t i = 0; i < kRuns; ++i) {
        tile::Move m;
        m.bytes = bytes;
        m.count = 2 + i * 7 % (kMost - 1);
        m.source_step = step * bytes * (i == 250 ? 2 : 1);
        m.destination_step = bytes;
        m.source = std::uint64_t{kRoom} * 16 * ((i * 131) % kRuns) + std::uint64_t{kRoom} * 8;
        m.destination = std::uint64_t{kMost} * 16 * i;
        moves.push_back(m);
      }
      std::vector<char> from(std::size_t{kRoom} * 16 * kRuns), to(std::size_t{kMost} * 16 * kRuns), expected(to.size());
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 251 + 1);
      for (const tile::Move& m : moves)
        for (std::uint32_t k = 0; k < m.count; ++k)
          std::memcpy(&expected[m.destination + std::size_t{k} * bytes],
                      &from[m.source + static_cast<std::uint64_t>(m.source_step * static_cast<std::int64_t>(k))], bytes);
      for (const unsigned chunks : {1u, 3u}) {
        const MovePlan plan = MovePlan::build(moves, 0, chunks);
        std::fill(to.begin(), to.end(), char(0));
        plan.run_all(to.data(), from.data());
        EXPECT_EQ(to, expected) << bytes << " bytes, step " << step;
        for (unsigned c = 0; c < plan.chunks(); ++c) plan.fill(c, to.data(), 0);
        EXPECT_EQ(to, std::vector<char>(to.size())) << bytes << " bytes, step " << step;
      }
    }
}

// Parts that are moved while the next one's sources are asked for: blocks, more of them in the next part and fewer, and strided runs.
TEST(MovePlan, PartsBeforeTheNextAreTheSame) {
  constexpr std::uint32_t kParts = 6;
  std::vector<std::vector<tile::Move>> parts(kParts);
  std::uint64_t at = 0;
  for (std::uint32_t p = 0; p < kParts; ++p)
    for (std::uint32_t i = 0; i < (p * 5) % 7; ++i) {
      tile::Move m;
      m.bytes = 100 + 1000 * i;
      m.count = 1 + i % 2;
      m.source = at + 8;
      m.destination = at;
      m.source_step = m.destination_step = m.bytes + 4;
      at += std::uint64_t{m.count} * (m.bytes + 4);
      parts[p].push_back(m);
    }
  std::vector<char> from(at + 8), expected(at), to(at);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 251 + 1);
  const MovePlan plan = MovePlan::build_parts(parts, 0);
  plan.run_all(expected.data(), from.data());
  for (std::uint32_t p = 0; p < kParts; ++p) plan.run_before((p + 1) % kParts, p, to.data(), from.data());
  EXPECT_EQ(to, expected);
  EXPECT_NE(to, std::vector<char>(at));
}

}  // namespace
}  // namespace pando::exec
