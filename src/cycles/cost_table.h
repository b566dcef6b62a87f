// The costs of all instructions of a program, each computed at its first use.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "codelet/library.h"
#include "cycles/step_cost.h"
#include "profile/report.h"
#include "tile/counts.h"

namespace pando::cycles {

struct InstructionCost {
  profile::Cycles cycles;  // `wait` is 0: it depends on the run
  double tile_balance = 0;
  std::uint64_t vertices = 0;
  std::uint64_t unestimated = 0;
  std::uint64_t received_bytes = 0;  // by this stream's tiles, from other tiles
};

class CostTable {
 public:
  CostTable(std::shared_ptr<const tile::Program> program, const Library& library, Options::Exchange exchange_model);

  const tile::Program& program() const { return *program_; }
  // Thread-safe; without a lock after the first call for an instruction.
  std::uint64_t total(StreamId stream, std::uint32_t instruction) {
    std::uint64_t known = totals_[stream.index()][instruction].load(std::memory_order_acquire);
    return known != kUnknown ? known : compute_total(stream, instruction);
  }
  // Of a compute step some of whose vertices were counted as they ran: each time that it ran. Thread-safe.
  std::uint64_t total_as_run(StreamId stream, std::uint32_t instruction, bool is_recorded, std::span<const std::uint64_t> counted,
                             std::span<const std::uint64_t> blocks = {});
  // What the executions that were recorded took together. Null: none was counted as it ran.
  struct AsRun {
    std::vector<std::uint64_t> counted;  // as of the last one
    std::uint64_t cycles = 0;            // compute alone
    std::vector<CodeletShare> codelets;  // added up
    std::vector<std::uint64_t> blocks;   // tile::StepEvent::counted_blocks, added up
  };
  const AsRun* as_run(StreamId stream, std::uint32_t instruction) const;
  void forget_runs();
  // Where the cycles of a codelet's vertices come from, for reports.
  std::string source_of(const CodeletShare& share, std::size_t codelet) const;
  // Only after total() was called for it.
  const InstructionCost& cost(StreamId stream, std::uint32_t instruction) const { return costs_[stream.index()][instruction]; }
  const ComputeCost& compute(tile::ComputeId id) const { return *computes_[id.index()]; }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  std::uint64_t compute_total(StreamId stream, std::uint32_t instruction);
  InstructionCost cost_of(StreamId stream, const tile::Instruction& instruction);
  void find_gathers();
  // Of each vertex: its estimate, what was counted as it ran, or what follows from its sizes.
  std::vector<std::uint64_t> cycles_of(const tile::ComputeStep& step, std::span<const std::uint64_t> counted);
  ComputeCost compute_of(const tile::ComputeStep& step, std::span<const std::uint64_t> counted);
  void add_compute(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost);
  // Adds the phase in which the step's bound operands would have been received.
  void add_bound(StreamId stream, const tile::ComputeStep& step, InstructionCost& cost) const;
  // The exchange with what the compute set that it gathers for binds in the streams that take part: one phase.
  tile::Exchange with_bound(const tile::Exchange& exchange, std::span<const StreamId> streams) const;
  void add_exchange(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost);
  void add_transfer(std::uint32_t id, InstructionCost& cost);
  void add_channel_step(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost);
  std::uint64_t sync_cycles(const tile::Instruction& instruction, bool moves_data, bool crosses_ipus) const;

  std::shared_ptr<const tile::Program> program_;
  Options::Exchange exchange_model_;
  tile::VertexCounts counts_;
  std::vector<VertexKind> kinds_;       // by codelet
  std::vector<bool> in_assembly_;       // by codelet: what is counted are the instructions executed
  std::vector<std::string> uncounted_;  // by codelet: why its code is not counted
  std::vector<StreamId> stream_of_tile_;
  std::vector<std::pair<ComputeSetId, StreamId>> gathered_;  // sorted: who takes part in an exchange that gathers for the compute set
  // A step that binds, per compute set and stream. Several steps of one compute set bind the same.
  std::map<std::pair<ComputeSetId, StreamId>, tile::ComputeId> bound_steps_;
  std::mutex mutex_;                                             // of what follows, while costs are computed
  std::vector<std::vector<std::atomic<std::uint64_t>>> totals_;  // [stream][instruction]
  std::vector<std::vector<InstructionCost>> costs_;
  std::vector<std::unique_ptr<ComputeCost>> computes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, AsRun> as_run_;  // [stream, instruction]
  // An exchange or a transfer that several streams take part in is costed once.
  std::vector<std::unique_ptr<ExchangeCost>> exchanges_, cross_replica_;
  std::vector<std::optional<std::uint64_t>> transfers_;
};

}  // namespace pando::cycles
