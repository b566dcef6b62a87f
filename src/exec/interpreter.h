// Runs the streams of a tile program: one resumable cursor per replica and stream, scheduled on a team of threads.
//
// A cursor goes through its stream's instructions. Work that is large enough is posted to the team; whoever finishes its last
// chunk goes on with the cursor. At a meet a cursor parks; the last to come does the work for all and wakes the others. At a
// host step it parks until the order of host callbacks says that it is its turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "codelet/library.h"
#include "exec/channel_state.h"
#include "exec/compute_work.h"
#include "exec/host_ends.h"
#include "exec/host_order.h"
#include "exec/memory.h"
#include "exec/move_plan.h"
#include "exec/team.h"
#include "exec/tile_by_tile.h"
#include "tile/observer.h"
#include "tile/program.h"
#include "tile/step.h"

namespace pando::exec {

class Interpreter final : public Team::Client {
 public:
  // Keeps references to all of these. `contexts`: one per replica.
  Interpreter(const tile::Program& program, const Library& library, const TileMemory& memory,
              std::vector<std::unique_ptr<TileContexts>>& contexts, HostEnds& ends, const Options& options);

  void run(unsigned index);
  void stop() { stop_.store(true); }
  bool is_running() const { return team_.is_running(); }
  void signal_threads(int signal) { team_.signal_threads(signal); }
  bool runs_on_this_thread() const { return team_.has_this_thread(); }
  bool done(unsigned slot) override;

  tile::StepObserver* observer = nullptr;
  std::ostream* print_stream = nullptr;

  // Moves a host handle's block to or from the tiles of a replica, on the calling thread.
  void move_handle(tile::TransferId transfer, unsigned replica, char* block) const;

 private:
  enum class Next { instruction, posted, parked };
  // What a cursor has done of its current instruction. Others than these count parts of one instruction's work.
  enum Phase : std::uint32_t { kArrive, kBegin, kPassed = ~0u };

  struct Frame {
    std::uint32_t order = 0;      // of the loop or call
    std::uint32_t return_to = 0;  // of a call
    std::uint32_t quiet_exit = 0; // of a loop without host steps: the instruction after it; else 0
    bool is_call = false;
    std::uint64_t round = 0;
    std::uint64_t remaining = 0;
  };
  // A plan with this execution's bases.
  struct MoveWork final : Work {
    const MovePlan* plan = nullptr;
    char* destination = nullptr;
    const char* source = nullptr;
    void run(unsigned, unsigned chunk) override { plan->run(chunk, destination, source); }
  };
  struct Cursor {
    unsigned slot = 0;
    unsigned replica = 0;
    StreamId stream;
    const tile::Stream* code = nullptr;
    std::uint32_t pc = 0;
    std::uint32_t phase = kArrive;
    bool ended = false;
    bool leaves_host_step = false;
    bool computed = false;      // the exchange before this compute step did its work too
    bool jumps = false;         // what a branch decided
    std::uint64_t steps = 0;    // executed instructions: the clock if nobody observes
    std::uint32_t row = 0;      // next row of a remote transfer
    ChannelState* channel = nullptr;  // that the current step moves a block of
    unsigned partner = 0;        // the slot at the other end of a channel without a capacity
    char* block = nullptr;      // the host's side of the current transfer
    std::vector<char> scratch;
    std::vector<Frame> frames;
    std::vector<bool> loaded;   // functions whose code is on the tiles
    MoveWork moves;
  };
  class Machine;  // a cursor, as steps of little work see it
  // The cursors that come together, and how many have come.
  struct Rendezvous {
    std::vector<unsigned> slots;
    std::atomic<std::uint32_t> arrived{0};
  };
  // An exchange and its successor that run tile by tile.
  struct Pair {
    std::uint64_t cost = 0;
    std::vector<std::unique_ptr<TileByTile>> works;  // [replica]
  };
  struct ExchangePlans {
    MovePlan receive, arrange, gather, scatter;  // the last two: across replicas, through a host block
    std::uint64_t gathered_bytes = 0;
  };

  // Load time.
  void build_plans(unsigned chunks);
  void build_replica_copies(unsigned chunks);
  void build_rendezvous();
  void build_channels();
  void build_tile_by_tile(const Library& library, const std::vector<std::unique_ptr<TileContexts>>& contexts);
  void find_shared_remote_buffers();
  void find_quiet_loops();
  std::vector<std::uint32_t> find_host_steps(const tile::Stream& stream, unsigned program) const;
  bool is_host_step(const tile::Instruction& in) const;
  void check_connected(const tile::Instruction& in) const;
  void reset(unsigned index);

  // One instruction.
  Next step(Cursor& c);
  Next perform(Cursor& c, const tile::Instruction& in);
  Next compute(Cursor& c, const tile::Instruction& in);
  Next exchange(Cursor& c, const tile::Instruction& in);
  Next tile_by_tile(Cursor& c, Pair& pair);
  Next cross_replica(const tile::Instruction& in);
  Next fifo(Cursor& c, const tile::Transfer& t, const MovePlan& plan);
  Next remote(Cursor& c, const tile::Transfer& t, std::uint32_t index);
  Next host_call(Cursor& c, const tile::Instruction& in);
  Next print(Cursor& c, const tile::Transfer& t, const MovePlan& plan);
  Next error(Cursor& c, const tile::Transfer& t, const MovePlan& plan);
  void poison(Cursor& c, const MovePlan& plan);
  Next transfer_block(Cursor& c, const tile::Instruction& in, ChannelState::End end);
  Next rendezvous_block(Cursor& c, const tile::Instruction& in, ChannelState::End end);
  void leave_channel(Cursor& c, const tile::Instruction& in);
  void publish_here(const Cursor& c);
  void finish(Cursor& c, const tile::Instruction& in);
  void enter(Cursor& c, Frame frame);
  Frame& innermost(Cursor& c, bool is_call);
  void observe(const Cursor& c, const tile::Instruction& in);

  // In nanoseconds of one thread: less is what waking and joining another costs.
  static constexpr std::uint64_t kWorthSharing = 2000;
  // Runs the work here if it is small, else posts it: then the cursor goes on in `phase` when it is done.
  bool post(Cursor& c, Work& work, unsigned chunks, std::uint64_t cost, std::uint32_t phase);
  bool post_moves(Cursor& c, const MovePlan& plan, char* destination, const char* source, std::uint32_t phase);

  // Meets.
  Rendezvous* rendezvous(const Cursor& c, const tile::Instruction& in);
  bool arrive(Cursor& c, Rendezvous& r);
  void release(Cursor& c, Rendezvous& r);

  // Host order.
  Position position(const Cursor& c) const;
  // A lower bound of the cursor's next host step: its position, or, inside of a loop without host steps, what comes after that.
  Position next_host_position(const Cursor& c) const;
  bool in_quiet_loop(const Cursor& c) const;
  bool enter_host_step(Cursor& c);
  void start(std::optional<unsigned> slot) {
    if (slot) team_.start(*slot);
  }

  // If a run ended and cursors wait, control_program_error that says which, where and for what.
  void refuse_waiting() const;
  std::string wait_of(const Cursor& c, const tile::Instruction& in) const;

  std::int64_t load(unsigned replica, const tile::Location& l) const;
  void store(unsigned replica, const tile::Location& l, std::int64_t value) const;
  std::string tensor_text(Cursor& c, const tile::Transfer& t, const MovePlan& plan);

  const tile::Program& program_;
  const TileMemory& memory_;
  HostEnds& ends_;
  const Options options_;
  std::vector<ExchangePlans> exchanges_;
  std::vector<MovePlan> transfers_;
  std::vector<std::vector<MovePlan>> rows_;  // [transfer][row], for transfers of several rows
  std::vector<std::unique_ptr<Descriptors>> descriptors_;                 // [replica]
  std::vector<std::vector<std::unique_ptr<ComputeWork>>> computes_;      // [replica][compute step]
  std::vector<std::vector<std::unique_ptr<Pair>>> pairs_;  // [stream][instruction]: an exchange that runs tile by tile with its successor
  std::vector<std::unique_ptr<Rendezvous>> meets_;          // [replica][meet]
  std::vector<std::unique_ptr<Rendezvous>> replica_meets_;  // [meet, then stream]
  std::vector<std::unique_ptr<ChannelState>> channels_;  // [replica][channel]
  bool is_whole_ = true;  // the last run came to its end: what channels hold is good
  std::vector<bool> ordered_remote_;  // buffers that several streams use and one writes: their transfers keep the program's order
  std::vector<std::vector<std::uint32_t>> quiet_exits_;  // [stream][instruction]: of loops without host steps (Frame::quiet_exit)
  std::vector<std::optional<std::vector<std::uint32_t>>> host_steps_;  // [program][stream]: instructions that a run may reach; found by the first run
  std::vector<Cursor> cursors_;       // [replica][stream]
  HostOrder order_;
  std::atomic<bool> stop_{false};
  Team team_;
};

}  // namespace pando::exec
