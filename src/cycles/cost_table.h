// The costs of all instructions of a program, each computed at its first use.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "codelet/library.h"
#include "cycles/step_cost.h"
#include "profile/report.h"

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
  // Only after total() was called for it.
  const InstructionCost& cost(StreamId stream, std::uint32_t instruction) const { return costs_[stream.index()][instruction]; }
  const ComputeCost& compute(tile::ComputeId id) const { return *computes_[id.index()]; }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  std::uint64_t compute_total(StreamId stream, std::uint32_t instruction);
  InstructionCost cost_of(StreamId stream, const tile::Instruction& instruction);
  void add_compute(const tile::Instruction& instruction, InstructionCost& cost);
  void add_exchange(StreamId stream, const tile::Instruction& instruction, InstructionCost& cost);
  void add_transfer(std::uint32_t id, InstructionCost& cost);
  std::uint64_t sync_cycles(const tile::Instruction& instruction, bool moves_data) const;

  std::shared_ptr<const tile::Program> program_;
  Options::Exchange exchange_model_;
  std::vector<VertexKind> kinds_;          // by codelet
  std::vector<StreamId> stream_of_tile_;
  std::mutex mutex_;                       // of what follows, while costs are computed
  std::vector<std::vector<std::atomic<std::uint64_t>>> totals_;  // [stream][instruction]
  std::vector<std::vector<InstructionCost>> costs_;
  std::vector<std::unique_ptr<ComputeCost>> computes_;
  // An exchange or a transfer that several streams take part in is costed once.
  std::vector<std::unique_ptr<ExchangeCost>> exchanges_, cross_replica_;
  std::vector<std::optional<std::uint64_t>> transfers_;
};

}  // namespace pando::cycles
