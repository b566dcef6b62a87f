// An exchange and the compute step right after it, run tile by tile (contract 12): each thread receives, arranges and computes
// for its own tiles and then goes on to its next ones, without waiting for the others in between.
//
//     step by step    | receive all tiles | arrange all tiles | compute all tiles |
//     tile by tile    | t0: receive, arrange, compute | t1: receive, arrange, compute | ...
//
// Only where the order cannot be seen: nothing that one tile receives is written by another tile's arranging or vertices, and no
// bound operand reads what another tile receives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codelet/library.h"
#include "exec/moves/move_plan.h"
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

// One pair of steps of one replica.
class TileByTile final : public Work {
 public:
  // `base`: of the replica's tiles. `groups`: the objects of the compute step's groups.
  TileByTile(const tile::Program& program, const Library& library, const tile::Exchange& exchange, const tile::ComputeStep& step,
             const Descriptors::Group* groups, std::span<const TileId> ends, char* base, std::uint64_t stride, TileContexts& contexts);

  unsigned chunks() const { return static_cast<unsigned>(range_end_.size()); }
  void run(unsigned slot, unsigned chunk) override;
  void begin() { result_.store(true, std::memory_order_relaxed); }
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
  static void run_ranges(void* running);
  TileContexts& contexts_;
  const VertexPlaces places_;
  char* const base_;
  MovePlan receive_, arrange_;  // chunk by chunk
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> range_end_;  // per chunk, in ranges_
  std::atomic<bool> result_{true};
};

}  // namespace pando::exec
