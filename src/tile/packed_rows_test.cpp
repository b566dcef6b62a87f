#include "tile/packed_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "tile/program.h"

namespace pando::tile {
namespace {

TEST(PackedRows, any_moves_come_back) {
  std::mt19937_64 rng(3);
  for (const std::size_t count : {0u, 1u, 2u, 500u}) {
    std::vector<Move> moves(count);
    for (Move& m : moves) {
      const auto number = [&] { return rng() >> rng() % 64; };
      m = {TileId(static_cast<std::uint32_t>(number())),
           TileId(),
           number(),
           number(),
           static_cast<std::uint32_t>(number()),
           static_cast<std::uint32_t>(number()),
           static_cast<std::int64_t>(number()),
           -static_cast<std::int64_t>(number())};
    }
    std::vector<Move> again(7);
    EXPECT_TRUE(unpack(pack(moves), again));
    EXPECT_EQ(again, moves);
  }
}

TEST(PackedRows, equal_steps_take_little) {
  std::vector<Move> moves;
  for (std::uint32_t i = 0; i < 1000; ++i) moves.push_back({TileId(i), TileId(i + 7), 1024 + 64 * i, 8192, 256, 32, 1024, 256});
  EXPECT_LT(pack(moves).size(), 1000 * 7u);
}

TEST(PackedRows, what_is_no_table_is_rejected) {
  const std::vector<Move> moves = {{TileId(3), TileId(4), 5000, 6000, 256, 32, 1024, 256},
                                   {TileId(9), TileId(4), 5000, 6256, 256, 32, 1024, 256}};
  const std::string bytes = pack(moves);
  std::vector<Move> again;
  unsigned rejected = 0;
  for (std::size_t n = 0; n < bytes.size(); ++n) rejected += !unpack(std::string_view(bytes).substr(0, n), again);
  EXPECT_GE(rejected, bytes.size() - 2);                                                 // but at the ends of rows
  EXPECT_FALSE(unpack(std::string_view("\x01\xf0", 2), again));                          // words that a row does not have
  EXPECT_FALSE(unpack(std::string_view("\x01\x00\x80\x80\x80\x80\x80\x01", 8), again));  // a word of more than 32 bits
  EXPECT_FALSE(unpack(std::string_view("\x01", 1), again));
}

}  // namespace
}  // namespace pando::tile
