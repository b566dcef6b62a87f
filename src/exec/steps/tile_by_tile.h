// An exchange and the compute step right after it, run tile by tile (contract 12): each thread receives, arranges and computes
// for its own tiles and then goes on to its next ones, without waiting for the others in between.
//
//     step by step    | receive all tiles | arrange all tiles | compute all tiles |
//     tile by tile    | t0: receive, arrange, compute | t1: receive, arrange, compute | ...
//
// Only where the order cannot be seen: nothing that one tile receives is written by another tile's arranging or vertices, and no
// bound operand reads what another tile receives.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codelet/library.h"
#include "exec/moves/move_plan.h"
#include "exec/moves/near_buffers.h"
#include "exec/steps/compute_work.h"
#include "exec/threads/team.h"
#include "tile/program.h"

namespace pando::exec {

// Is the result the same bits either way? Looks at addresses only; strided moves count as all that they span.
bool may_run_tile_by_tile(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                          const tile::ComputeStep& step);

// Ends of ranges of tiles of like cost, for `threads` threads. Empty if whole tiles cannot be shared out evenly.
std::vector<TileId> cut_by_tile(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                                const tile::ComputeStep& step, unsigned threads);

// What a thread goes through one after the other: what comes for a block stays in its cache until it is computed. Tiles in order, or, where
// all that comes goes to near buffers, a part of a tile: some of its vertices, and what they read.
struct TileBlocks {
  // Everything before this belongs to this block or those before it.
  struct End {
    TileId tile;
    std::uint64_t address = 0;   // of near buffers on that tile
    std::uint32_t vertices = 0;  // of the only group that the tile has; with an address alone
    friend auto operator<=>(const End& a, const End& b) { return std::pair(a.tile, a.address) <=> std::pair(b.tile, b.address); }
  };
  std::vector<End> ends;                 // ascending
  std::vector<std::uint32_t> chunk_end;  // in `ends`

  std::size_t block_of(TileId tile, std::uint64_t address) const;
};
TileBlocks cut_into_blocks(const tile::Program& program, const Library& library, const tile::Exchange& exchange,
                           const tile::ComputeStep& step, std::span<const TileId> ends, const NearBuffers& near);

// One pair of steps of one replica.
class TileByTile final : public Work {
 public:
  // `base`: of the replica's tiles. `groups`: the objects of the compute step's groups. `near`: its buffers that need not lie on tiles.
  // `counted`: the step's vertices that are counted as they run. `prefetches`: while a block comes, the next one's sources are asked for.
  TileByTile(const tile::Program& program, const Library& library, const tile::Exchange& exchange, const tile::ComputeStep& step,
             const Descriptors::Group* groups, CountedVertices& counted, std::span<const TileId> ends, char* base, std::uint64_t stride,
             TileContexts& contexts, NearBuffers near = {}, bool prefetches = true);

  unsigned chunks() const { return static_cast<unsigned>(blocks_.chunk_end.size()); }
  void run(unsigned slot, unsigned chunk) override;
  void begin() {
    result_.store(true, std::memory_order_relaxed);
    counted_.begin(contexts_.counts);
  }
  // The AND of the vertices' results since begin().
  bool result() const { return result_.load(std::memory_order_relaxed); }

 private:
  struct Range {
    KernelRange kernel;
    char* first;
    std::uint64_t stride;
    std::uint32_t count;
    std::uint32_t group, first_vertex;  // of the group
  };
  // A chunk, and where its run is.
  struct Running;
  // Moves by where their ends are; chunk by chunk of a plan is block by block.
  struct Moves {
    std::array<MovePlan, 4> plans;
    void build(const std::vector<tile::Move>& moves, const TileBlocks& blocks, const NearBuffers& near, std::uint64_t stride);
    void run(std::uint32_t block, char* tiles, char* near) const;
    // While the moves of block `next` are asked for.
    void run_before(std::uint32_t next, std::uint32_t block, char* tiles, char* near) const;
  };
  static constexpr unsigned kFromNear = 1, kToNear = 2;
  static void run_ranges(void* running);
  void run_vertices(Running& now);
  std::uint64_t place_near_buffers();
  std::unique_ptr<Descriptors> near_objects(const tile::Program& program, const Library& library, const tile::ComputeStep& step,
                                            std::uint64_t stride) const;
  char* near_of(unsigned chunk) const { return near_memory_.data() + chunk * near_bytes_; }

  TileContexts& contexts_;
  const VertexPlaces places_;
  CountedVertices& counted_;
  char* const base_;
  const bool prefetches_;
  const TileBlocks blocks_;
  NearBuffers near_;
  std::uint64_t near_bytes_ = 0;  // of a chunk
  Mapping near_memory_;
  std::unique_ptr<Descriptors> objects_;  // with near buffers: its own
  Moves receive_, arrange_;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> range_end_;  // per block, in ranges_
  std::atomic<bool> result_{true};
};

}  // namespace pando::exec
