// The first cycle model (machine.md, section 5): runs a tile program against one clock per stream, as a step observer.
//
// A step's cost is a function of the program alone and is computed once. A vertex without an estimate is counted as
// unestimated, never as 0 or a constant, and a step that has one says so.
#pragma once

#include <memory>

#include "profile/report.h"
#include "tile/observer.h"

namespace pando::cycles {

class CycleModel final : public tile::StepObserver {
 public:
  CycleModel(std::shared_ptr<const tile::Program> program, const Library& library);
  ~CycleModel() override;
  void on_begin(unsigned program) override;
  void on_step(const tile::StepEvent& event) override;
  void on_end() override;
  std::uint64_t cycles(ReplicaId replica, StreamId stream) const override;

  void reset();
  // Fills the execution part of the report (replica 0).
  void fill(profile::Report& report) const;
  // The first `limit` executed steps as slices.
  std::vector<profile::TraceSlice> trace() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The memory part of the report: tiles, categories, liveness per stream, largest variables.
void fill_memory(const tile::Program& program, const Library& library, profile::Report& report);

}  // namespace pando::cycles
