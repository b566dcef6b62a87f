#include "exec/address_space.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "exec/fibers/fiber.h"
#include "exec/memory.h"
#include "tile/hand_made.h"

namespace pando::exec {
namespace {

std::uint64_t low_half(const char* p) { return reinterpret_cast<std::uint64_t>(p) & 0xffffffff; }

TEST(AddressSpace, BeginsWhereLowHalvesAreLarge) {
  for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{1} << 30, std::uint64_t{1} << 36}) {
    char* const p = map_lazily(bytes);
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(low_half(p), kSmallNumbers);
    p[0] = p[bytes - 1] = 1;
    EXPECT_EQ(munmap(p, bytes), 0);
  }
}

TEST(AddressSpace, NoneIsLeftForTooMuch) {
  EXPECT_EQ(map_lazily(std::uint64_t{1} << 60), nullptr);
  EXPECT_EQ(map_lazily(~std::uint64_t{0}), nullptr);
}

// What a collector of 32-bit pointers would take for its own.
TEST(AddressSpace, TilesAndStacksHaveNoAddressWhoseLowHalfIsSmall) {
  tile::HandMade p(1, 1472, 638976);
  p.end_all();
  const TileMemory memory(p.program, p.library, true);
  for (unsigned t = 0; t < 1472; ++t) {
    EXPECT_GE(low_half(memory.tile(0, TileId(t))), kSmallNumbers) << t;
    EXPECT_GE(low_half(memory.tile(0, TileId(t)) + memory.stride() - 1), kSmallNumbers) << t;
  }
  StackPool pool;
  std::vector<StackBounds> stacks;
  for (unsigned i = 0; i < 1472; ++i) {
    stacks.push_back(pool.take());
    EXPECT_GE(low_half(stacks.back().low), kSmallNumbers) << i;
    EXPECT_GE(low_half(stacks.back().high - 1), kSmallNumbers) << i;
  }
  for (const StackBounds& s : stacks) pool.give_back(s);
}

}  // namespace
}  // namespace pando::exec
