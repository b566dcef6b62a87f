// The first cycle model (machine.md, section 5): runs a tile program against one clock per stream, as a step observer.
//
// A step's cost is a function of the program alone and is computed once, when the step is first executed; that of a compute step whose
// vertices are counted as they run, each time. A vertex takes what the program estimates, else what is counted from its code
// (docs/cycles.md). A vertex of which neither is known is unestimated, never 0 or a constant, and a step that has one says so.
//
//     stream 0   |compute......|        wait|exchange..|
//     stream 1   |compute...................|exchange..|      a sync: all its streams leave at the same cycle
//
// What is known to be missing: control flow (loop counters, branches, calls) costs nothing but its syncs; fragments of an
// exchange cost nothing of their own; host and Streaming Memory times are unvalidated parameters of the machine.
#pragma once

#include <cstddef>
#include <memory>

#include "profile/report.h"
#include "tile/observer.h"

namespace pando::cycles {

struct Options {
  // landing: 53 + rows and columns of the fabric + the busiest tile's words. simple: 100 + the busiest tile's words.
  enum class Exchange { landing, simple };
  Exchange exchange = Exchange::landing;
  std::size_t trace_steps = 100'000;  // how many executed steps trace() can return
  bool keeps_trace = false;           // all executed steps, folded, for a report file
};

// How much of a report is filled.
enum class Detail { summary, whole };

class CycleModel final : public tile::StepObserver {
 public:
  CycleModel(std::shared_ptr<const tile::Program> program, const Library& library, const Options& options = {});
  ~CycleModel() override;
  // All streams start a run at the same cycle: that of the latest.
  void on_begin(unsigned program) override;
  void on_step(const tile::StepEvent& event) override;
  void on_end() override;
  void on_empty_channels() override;
  bool wants_counts() const override { return true; }
  std::uint64_t cycles(ReplicaId replica, StreamId stream) const override;

  // Of the run that ended last: the name that the program gave it, and the time that the host needed. Nothing happens if this observer did
  // not see it.
  void describe_run(const std::string& name, std::uint64_t host_ns);

  // Clocks to 0, counts forgotten. Not while a run is going on.
  void reset();
  // Fills the execution part of the report (replica 0). A stream's terms add up to its clock.
  // `by_tile`: with the cycles of each tile. `whole`: also profiles of tiles and the trace, for a report file.
  void fill(profile::Report& report, bool by_tile = false, Detail detail = Detail::summary) const;
  // The first executed steps of replica 0 (as many as the options keep) that took time, as slices by begin.
  std::vector<profile::TraceSlice> trace() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The memory part of the report: target, tiles, categories, liveness per stream, largest variables, the program's steps and compute sets.
// A tile's `used` is the most that is live at one step; its categories are those of that step. `with_variables`: all of them, and when they
// are live. `whole`: also the address map and the bytes from tile to tile of each exchange, for a report file.
// Returns what the rows are of.
struct RowsOf {
  std::vector<tile::NameId> residents;  // of the address map
  std::vector<ComputeSetId> compute_sets;
  std::vector<tile::NameId> program;  // invalid: without a name
};
RowsOf fill_memory(const tile::Program& program, const Library& library, profile::Report& report, bool with_variables = false,
                   Detail detail = Detail::summary);

}  // namespace pando::cycles
