// A resumable place in one stream of one replica.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/moves/move_plan.h"
#include "exec/steps/channel_state.h"
#include "exec/threads/team.h"
#include "tile/program.h"

namespace pando::exec {

// What a step did: its work is done; it was posted to the team, or the cursor waits. In the last two cases another thread may already go on
// with the cursor.
enum class Next { instruction, posted, parked };

// What a cursor has done of its current instruction. Others than these count parts of one instruction's work, kBegin is the first.
enum Phase : std::uint32_t { kArrive, kBegin, kPassed = ~0u };

// A plan with this execution's bases.
struct MoveWork final : Work {
  const MovePlan* plan = nullptr;
  char* destination = nullptr;
  const char* source = nullptr;
  void run(unsigned, unsigned chunk) override { plan->run(chunk, destination, source); }
};

// A loop or a call that a cursor is in.
struct Frame {
  std::uint32_t order = 0;          // of the loop or call
  std::uint32_t return_to = 0;      // of a call
  std::uint32_t hostless_exit = 0;  // of a loop without host steps: the instruction after it; else 0
  bool is_call = false;
  std::uint64_t round = 0;
  std::uint64_t remaining = 0;
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
  bool computed = false;            // the exchange before this compute step did its work too
  bool jumps = false;               // what a branch decided
  std::uint64_t steps = 0;          // executed instructions: the clock if nobody observes
  std::uint32_t row = 0;            // next row of a remote transfer
  ChannelState* channel = nullptr;  // that the current step moves a block of
  unsigned partner = 0;             // the slot at the other end of a channel without a capacity
  char* block = nullptr;            // the host's side of the current transfer
  std::vector<char> scratch;
  std::vector<Frame> frames;
  std::vector<bool> loaded;  // functions whose code is on the tiles
  MoveWork moves;

  const tile::Instruction& instruction() const { return code->code[pc]; }
};

}  // namespace pando::exec
