// Compute steps made ready to run: the vertices' host objects ("descriptors"), and ranges of them cut into chunks of like cost.
//
// The descriptors of one vertex group lie one after the other, `stride` bytes apart, so that a kernel runs over a range of them.
// A chunk may split a tile, except where code can see which tile it is on: vertices of such codelets run tile by tile, one tile
// on one thread at a time, in the order of the groups.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "codelet/library.h"
#include "codelet/runtime/tile_context.h"
#include "exec/faults/vertex_fault.h"
#include "exec/faults/vertex_watch.h"
#include "exec/fibers/fiber.h"
#include "exec/memory.h"
#include "exec/runner.h"
#include "exec/steps/counted_vertices.h"
#include "exec/steps/strided.h"
#include "exec/threads/team.h"
#include "tile/program.h"

namespace pando::exec {

// What vertices of one replica's tiles see of their tile.
class TileContexts {
 public:
  // `number`: of the replica among those of all processes.
  TileContexts(const tile::Program& program, const TileMemory& memory, unsigned replica, unsigned number);
  TileContext context(TileId tile);
  // Brings a tile's first line, and those of its globals of a module, into the cache before a vertex needs them.
  void prefetch(TileId tile, ModuleId module, std::uint32_t lines_of_globals) const;
  FiberTable& fibers(TileId tile) { return fibers_[tile.index()]; }
  std::uint32_t replica() const { return replica_; }

  StackPool stacks;
  // A vertex faulted: what is on the tiles is not known.
  std::atomic<bool> broken{false};
  // Vertices that do not end are left where they are, when their thread gets kStopSignal.
  std::atomic<bool> leaves_vertices{false};
  // Vertices are counted as they run, for an observer.
  std::atomic<bool> counts{false};
  // Says which one that is; null: nobody does.
  VertexWatch* watch = nullptr;

 private:
  const TileMemory& memory_;
  const std::uint32_t replica_, number_, tiles_;
  std::size_t modules_;
  std::vector<std::uint64_t> globals_;  // [tile][module]
  std::vector<FiberTable> fibers_;
  std::vector<std::uint64_t> cycle_counters_;
};

// Descriptors of every vertex of one replica, [group over all steps].
class Descriptors {
 public:
  Descriptors(const tile::Program& program, const Library& library, const TileMemory& memory, unsigned replica);
  // Of one compute step alone, its number 0; `place` says where an operand that has elements is.
  Descriptors(const tile::Program& program, const Library& library, const tile::ComputeStep& step,
              const std::function<void*(const tile::Operand&)>& place);
  struct Group {
    char* first = nullptr;
    std::uint64_t stride = 0;
  };
  // The groups of compute step `step`, in its order.
  const Group* groups(std::size_t step) const { return groups_.data() + first_group_[step]; }

 private:
  template <class Place>
  void fill_step(const tile::Program& program, const Library& library, const tile::ComputeStep& step, Place place);
  char* arena_take(std::uint64_t bytes, std::uint64_t align);

  const std::uint64_t arena_bytes_;
  std::vector<Group> groups_;
  std::vector<std::size_t> first_group_;
  std::vector<Mapping> arenas_;
  std::uint64_t arena_used_ = 0;
};

// Must the codelet's vertices run tile by tile, with the tile's context?
bool runs_on_tile(const Library& library, const Codelet& codelet);
// A rough cost in nanoseconds of one thread, by rule. Only the cut into chunks depends on it, never a result.
std::uint64_t vertex_cost(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& vertex);

// One compute step of one replica.
class ComputeWork final : public Work {
 public:
  ComputeWork(const tile::Program& program, const Library& library, std::size_t step, const Descriptors& descriptors,
              TileContexts& contexts, unsigned threads, const Options& options);

  unsigned chunks() const { return static_cast<unsigned>(chunk_end_.size()); }
  // A rough cost in nanoseconds of one thread, by rule.
  std::uint64_t cost() const { return cost_; }
  void run(unsigned slot, unsigned chunk) override;
  void begin() {
    result_.store(true, std::memory_order_relaxed);
    counted_.begin(contexts_.counts);
  }
  CountedVertices& counted() { return counted_; }
  // The AND of the vertices' results since begin().
  bool result() const { return result_.load(std::memory_order_relaxed); }

 private:
  struct Range {
    KernelRange kernel;
    char* first;
    std::uint64_t stride;
    std::uint32_t count;
    TileId tile;  // valid: set the tile's context
    std::uint32_t group;
    std::vector<StridedVertices> strided = {};  // all of it, where that is faster
  };
  // What vertices of a group touch first.
  struct FirstTouch {
    std::vector<std::uint32_t> edges;  // where their descriptors keep addresses
    ModuleId module;
    std::uint32_t lines_of_globals = 0;
    bool far = false;  // all of it is more than near caches hold
  };
  struct Uncut {  // before it is cut into chunks
    Range range;
    TileId first_tile;
    std::uint64_t cost = 0;
    std::size_t order = 0;
    bool joins_next = false;  // must be in the same chunk as the next
  };
  static FirstTouch first_touch(const tile::Program& program, const Library& library, const tile::VertexGroup& group);
  // Before range i runs, of a chunk that ends at `end`: brings into the cache what the ranges after it need.
  void prefetch_ranges(std::uint32_t i, std::uint32_t end) const;
  // Are its vertices run a few at a time, after what they point to was asked for?
  bool is_prefetched(const Range& range) const;
  void prefetch_operands(const Range& range, std::uint32_t begin, std::uint32_t end) const;
  static std::vector<Uncut> uncut_ranges(const tile::Program& program, const Library& library, std::size_t step,
                                         const Descriptors& descriptors, unsigned threads);
  void cut(const std::vector<Uncut>& uncut, unsigned threads);
  // A chunk, and where its run is.
  struct Running;
  static void run_ranges(void* running);
  // Vertex by vertex, with breaks.
  static void run_one_by_one(Running& running, const Range& range);
  std::uint64_t first_vertex(const Range& range) const;

  TileContexts& contexts_;
  const VertexPlaces places_;
  const Descriptors::Group* const groups_;
  const bool prefetches_;
  const bool tags_prints_;
  const BreakAt break_at_;
  const bool breaks_;                    // some of its vertices are named by it
  std::vector<FirstTouch> first_touch_;  // [group]
  std::vector<KernelStrided> strided_;   // [group]
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> chunk_end_;  // in ranges_
  std::uint64_t cost_ = 0;
  CountedVertices counted_;
  std::atomic<bool> result_{true};
};

}  // namespace pando::exec
