// Schedules the streams of a tile program: one resumable cursor per replica and stream, on a team of threads.
//
// A cursor goes through its stream's instructions. Work that is large enough is posted to the team; whoever finishes its last
// chunk goes on with the cursor. At a sync a cursor parks; the last to come does the work for all and wakes the others. At a
// host step it parks until the order of host callbacks says that it is its turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/host/host_order.h"
#include "exec/steps/cursor.h"
#include "exec/steps/loaded_program.h"
#include "exec/threads/team.h"
#include "tile/observer.h"
#include "tile/program.h"
#include "tile/step.h"

namespace pando::exec {

class StepExecution;

class Scheduler final : private Team::Client {
 public:
  // Keeps references; `steps` may be made later, before the first run.
  Scheduler(const tile::Program& program, LoadedProgram& loaded, StepExecution& steps, const Options& options, unsigned threads);

  // Runs a program to its end, to an error or to `stop`. Throws what steps throw, and control_program_error for streams that wait for each
  // other.
  void run(unsigned index);
  void stop() { stop_.store(true); }
  // Has the last run come to its end?
  bool is_whole() const { return is_whole_; }
  // Does the run end before its program does?
  bool is_ending() const { return stop_.load(std::memory_order_relaxed) || team_.aborting(); }
  bool is_running() const { return team_.is_running(); }
  void signal_threads(int signal) { team_.signal_threads(signal); }
  bool runs_on_this_thread() const { return team_.has_this_thread(); }

  tile::StepObserver* observer = nullptr;

  // For steps.

  // Runs the work here if it is small, else posts it: then the cursor goes on in `phase` when it is done.
  bool post(Cursor& c, Work& work, unsigned chunks, std::uint64_t cost, std::uint32_t phase);
  bool post_moves(Cursor& c, const MovePlan& plan, char* destination, const char* source, std::uint32_t phase);
  // False: the cursor waits for its turn and must not be touched any more.
  bool enter_host_step(Cursor& c);
  // Before a cursor parks for another reason: it comes to no host step before this one.
  void publish_here(const Cursor& c);
  // Wakes a parked cursor, whose step is tried again, or, with `pass`, was done for it.
  void wake(std::optional<unsigned> slot) {
    if (slot) team_.start(*slot);
  }
  void pass(unsigned slot);
  const Cursor& cursor(unsigned slot) const { return cursors_[slot]; }
  std::uint64_t clock(const Cursor& c) const { return observer ? observer->cycles(ReplicaId(c.replica), c.stream) : c.steps; }

 private:
  // The cursors that come together, and how many have come.
  struct SyncPoint {
    std::vector<unsigned> slots;
    std::atomic<std::uint32_t> arrived{0};
  };

  bool done(unsigned slot) override;
  void build_sync_points();
  void reset(unsigned index);

  // One instruction.
  Next step(Cursor& c);
  void finish(Cursor& c, const tile::Instruction& in);
  void enter(Cursor& c, Frame frame);
  Frame& innermost(Cursor& c, bool is_call);
  void observe(const Cursor& c, const tile::Instruction& in);

  // Syncs.
  SyncPoint* sync_point(const Cursor& c, const tile::Instruction& in);
  bool arrive(Cursor& c, SyncPoint& r);
  void release(Cursor& c, SyncPoint& r);

  // Host order.
  Position position(const Cursor& c) const;
  // A lower bound of the cursor's next host step: its position, or, inside of a loop without host steps, what comes after that.
  Position next_host_position(const Cursor& c) const;
  bool in_hostless_loop(const Cursor& c) const;

  // If a run ended and cursors wait, control_program_error that says which, where and for what.
  void reject_waiting() const;
  std::string wait_of(const Cursor& c, const tile::Instruction& in) const;

  const tile::Program& program_;
  LoadedProgram& loaded_;
  StepExecution& steps_;
  std::vector<std::unique_ptr<SyncPoint>> syncs_;          // [replica][sync]
  std::vector<std::unique_ptr<SyncPoint>> replica_syncs_;  // [sync, then stream]
  std::vector<Cursor> cursors_;                            // [replica][stream]
  HostOrder order_;
  std::atomic<bool> stop_{false};
  bool is_whole_ = true;
  Team team_;
};

}  // namespace pando::exec
