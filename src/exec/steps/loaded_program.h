// What is prepared when a program is loaded: resolved moves, the work of compute steps, which instructions a program can reach. Nothing
// here changes while programs run, but that the host steps of a program are found when it first runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "codelet/library.h"
#include "exec/memory.h"
#include "exec/moves/move_plan.h"
#include "exec/runner.h"
#include "exec/steps/compute_work.h"
#include "exec/steps/tile_by_tile.h"
#include "tile/program.h"

namespace pando::exec {

// In nanoseconds of one thread: less is what waking and joining another costs.
inline constexpr std::uint64_t kWorthSharing = 2000;

struct ExchangeMoves {
  MovePlan receive, arrange, gather, scatter;  // the last two: across replicas, through a host block
  std::uint64_t gathered_bytes = 0;
};

// An exchange and its successor that run tile by tile.
struct Pair {
  tile::ComputeId compute;
  std::uint64_t cost = 0;
  std::vector<std::unique_ptr<TileByTile>> works;  // [replica]
};

class LoadedProgram {
 public:
  // Keeps references to program and memory. `contexts`: one per replica.
  LoadedProgram(const tile::Program& program, const Library& library, const TileMemory& memory,
                const std::vector<std::unique_ptr<TileContexts>>& contexts, const Options& options, unsigned threads);

  const ExchangeMoves& exchange(tile::ExchangeId id) const { return exchanges_[id.index()]; }
  const MovePlan& transfer(tile::TransferId id) const { return transfers_[id.index()]; }
  // Of a transfer of several rows.
  const MovePlan& row(tile::TransferId id, std::uint32_t row) const { return rows_[id.index()][row]; }
  ComputeWork& compute(unsigned replica, tile::ComputeId id) const { return *computes_[replica][id.index()]; }
  // Of the exchange at an instruction of a stream; null: it runs alone.
  Pair* pair(StreamId stream, std::uint32_t instruction) const {
    const auto& list = pairs_[stream.index()];
    return list.empty() ? nullptr : list[instruction].get();
  }

  bool is_host_step(const tile::Instruction& in) const;
  // Several streams use the buffer and one writes: its transfers keep the program's order.
  bool is_ordered(RemoteBufferId buffer) const { return ordered_remote_[buffer.index()]; }
  // Of the loop that begins at an instruction: the instruction after it, if it has no host steps; else 0.
  std::uint32_t hostless_exit(StreamId stream, std::uint32_t instruction) const { return hostless_exits_[stream.index()][instruction]; }
  // The instructions of a stream that a run of the program may reach and that are host steps.
  const std::vector<std::uint32_t>& host_steps(unsigned program, StreamId stream);

 private:
  void build_moves(unsigned chunks, bool in_blocks);
  void build_replica_copies(unsigned chunks);
  void build_tile_by_tile(const Library& library, const std::vector<std::unique_ptr<TileContexts>>& contexts, unsigned threads,
                          const Options& options);
  void find_shared_remote_buffers();
  void find_hostless_loops();
  std::vector<std::uint32_t> find_host_steps(const tile::Stream& stream, unsigned program) const;

  const tile::Program& program_;
  const TileMemory& memory_;
  const bool is_linked_;
  std::vector<ExchangeMoves> exchanges_;
  std::vector<MovePlan> transfers_;
  std::vector<std::vector<MovePlan>> rows_;                            // [transfer][row]
  std::vector<std::unique_ptr<Descriptors>> descriptors_;              // [replica]
  std::vector<std::vector<std::unique_ptr<ComputeWork>>> computes_;    // [replica][compute step]
  std::vector<std::vector<std::unique_ptr<Pair>>> pairs_;              // [stream][instruction]
  std::vector<bool> ordered_remote_;                                   // [remote buffer]
  std::vector<std::vector<std::uint32_t>> hostless_exits_;             // [stream][instruction]
  std::vector<std::optional<std::vector<std::uint32_t>>> host_steps_;  // [program][stream]
};

}  // namespace pando::exec
