// Exchange buffers that pass data on: an exchange fills them, the compute step right after it reads them, and nothing else does. Where a
// thread receives and computes tile by tile (tile_by_tile.h), they need not lie on their tiles: what it has just received waits in one
// near buffer, which stays in the thread's cache, where the tiles' own would go through memory and back.
//
//     on the tiles    | t0: receive 60 KiB, compute | t1: receive 60 KiB, compute | ...   each into its own memory
//     near            | t0: receive 60 KiB, compute | t1: receive 60 KiB, compute | ...   each into the same 60 KiB
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/interval.h"
#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

// Bytes [begin, end) of a tile.
struct NearBuffer {
  TileId tile;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t place = 0;  // in the near memory; set by who has that
};

class NearBuffers {
 public:
  NearBuffers() = default;
  explicit NearBuffers(std::vector<NearBuffer> sorted) : buffers_(std::move(sorted)) {}

  bool empty() const { return buffers_.empty(); }
  std::uint64_t bytes() const;
  // All of it, by tile and address.
  std::vector<NearBuffer>& list() { return buffers_; }
  // The one that holds that byte; null: none does.
  const NearBuffer* find(TileId tile, std::uint64_t offset) const;
  // From the first to the last of a tile; empty: it has none.
  Interval reach_of(TileId tile) const;
  // Does one of them hold all of these bytes, or none any?
  bool holds_all_or_none(TileId tile, std::uint64_t begin, std::uint64_t end) const;

 private:
  std::size_t after(TileId tile, std::uint64_t offset) const;  // the first that begins later

  std::vector<NearBuffer> buffers_;
};

// The program's exchange buffers by when they are live.
class BuffersByTime {
 public:
  explicit BuffersByTime(const tile::Program& program);

  // Those that live from the exchange of order `exchange` to the end of the compute step of order `compute`, and not again. None if a move
  // or an operand has only a part in one, or if the exchange sends from one.
  NearBuffers between(std::uint32_t exchange, std::uint32_t compute, const tile::Exchange& moves, const tile::ComputeStep& step,
                      const Library& library) const;

 private:
  const tile::Program& program_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> buffers_;  // allocations
};

}  // namespace pando::exec
