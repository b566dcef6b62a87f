#include "exec/touched_memory.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "exec/memory.h"
#include "exec/test_kernels.h"
#include "poplar/exceptions.hpp"

namespace pando::exec {
namespace {

using tile::Allocation;
using tile::Category;
using tile::Op;

constexpr std::uint64_t kPageBytes = 4096, kTileBytes = 256 * kPageBytes;
constexpr unsigned kTiles = 4;

// Four tiles of a MiB each.
struct FourTiles : tile::HandMade {
  testing_kernels::Codelets k = testing_kernels::add_codelets(library);
  StreamId s;
  FourTiles() : HandMade(1, kTiles, kTileBytes), s(add_ipu(0)) {}

  std::uint64_t touched() const { return touched_bytes(program, library) / kPageBytes; }
  void allocate(unsigned tile, Category category, std::uint64_t offset, std::uint64_t size) {
    Allocation a;
    a.tile = TileId(tile);
    a.name = name("x");
    a.category = category;
    a.always_live = true;
    a.offset = offset;
    a.size = size;
    program.allocations.push_back(a);
  }
};

TEST(TouchedMemory, IsWhatMovesAndVerticesWriteEachPageOnce) {
  FourTiles p;
  EXPECT_EQ(p.touched(), 0u);
  p.program.initial_data = std::string(16, 'x');
  p.program.initial_moves = {{TileId(), TileId(0), 0, kPageBytes - 8, 16, 1, 0, 0}};
  EXPECT_EQ(p.touched(), 2u);
  // 100 runs, 8 of them in each page.
  p.emit(p.s, Op::exchange, p.add_exchange({{TileId(0), TileId(1), 0, 0, 16, 100, 16, 512}}, {{TileId(1), TileId(1), 0, 64, 16, 1, 0, 0}}));
  EXPECT_EQ(p.touched(), 2u + 13);
  // It reads 40 pages that nothing writes, and writes 10.
  p.emit(p.s, Op::compute,
         p.add_compute(
             p.s, {{p.k.scale, TileId(2), {{TileId(2), 40 * 1024, 0}, {TileId(2), 10 * 1024, 50 * kPageBytes}}, tile::bytes_of(2.0f)}}));
  EXPECT_EQ(p.touched(), 2u + 13 + 10);
  p.emit(p.s, Op::compute, p.add_compute(p.s, {{p.k.add, TileId(2), {{TileId(2), 5 * 1024, 58 * kPageBytes}}, tile::bytes_of(1.0f)}}));
  EXPECT_EQ(p.touched(), 2u + 13 + 13);
}

TEST(TouchedMemory, WhatACodeletReservesAndWritesThereCostsNothingBefore) {
  FourTiles p;
  Codelet interpreter = p.library[p.k.add];
  interpreter.name = "Interpreter";
  interpreter.reserved = {kPageBytes, 200 * kPageBytes, "image"};
  p.library.add_builtin("an interpreter", {interpreter});
  const CodeletId id = p.library.id_of("Interpreter");
  p.emit(p.s, Op::compute, p.add_compute(p.s, {{id, TileId(3), {{TileId(3), 20 * 1024, 210 * kPageBytes}}, tile::bytes_of(1.0f)}}));
  EXPECT_EQ(p.touched(), 0u);
}

TEST(TouchedMemory, TheQuickFigureIsOfAllThatMayHoldData) {
  FourTiles p;
  p.allocate(0, Category::variable, 0, 100);
  p.allocate(0, Category::staging, 200, kPageBytes);
  p.allocate(0, Category::vertex_code, 3 * kPageBytes, kPageBytes);
  p.allocate(1, Category::reserved, 0, 100 * kPageBytes);
  p.allocate(1, Category::constant, 100 * kPageBytes, 8);
  p.allocate(2, Category::stack, 0, kPageBytes);
  EXPECT_EQ(touched_bytes_at_most(p.program) / kPageBytes, 2u + 1);
}

// Compared with the host's memory is what is touched, in all replicas.
TEST(TouchedMemory, MoreThanTheHostHasIsRejected) {
  FourTiles p;
  p.allocate(0, Category::variable, 0, 100 * kPageBytes);
  p.allocate(1, Category::reserved, 0, 250 * kPageBytes);
  p.program.initial_data = std::string(50 * kPageBytes, 'x');
  p.program.initial_moves = {{TileId(), TileId(0), 0, 0, 50 * kPageBytes, 1, 0, 0}};
  p.program.replication = 2;
  ::setenv("PANDO_HOST_MEMORY", std::to_string(100 * kPageBytes).c_str(), 1);
  EXPECT_NO_THROW(TileMemory(p.program, p.library, true));
  ::setenv("PANDO_HOST_MEMORY", std::to_string(100 * kPageBytes - 1).c_str(), 1);
  EXPECT_THAT([&] { TileMemory(p.program, p.library, true); },
              testing::ThrowsMessage<poplar::stream_memory_allocation_error>(
                  testing::HasSubstr("what the program writes to tile memory: 409600 bytes; the host's memory has 409599")));
  ::unsetenv("PANDO_HOST_MEMORY");
}

}  // namespace
}  // namespace pando::exec
