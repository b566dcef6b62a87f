// The step observer (contract 14): declared here, called by `exec`, implemented by `cycles` and by tests.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "tile/program.h"

namespace pando::tile {

struct StepEvent {
  ReplicaId replica;
  StreamId stream;
  std::uint32_t instruction = 0;  // index into the stream's code: the program says the tiles, codelets and counts
  // Of a compute step, to an observer that wants_counts(): cycles of each of its vertices as they ran this time, in the order of its
  // groups; kUnestimated: not counted as it ran. Empty: none was. Valid during the call.
  std::span<const std::uint64_t> counted = {};
  // How often each block of their code ran this time, of groups that were counted so and whose codelet has lines (codelet/code_lines.h):
  // one group after the other. Empty: no group was.
  std::span<const std::uint64_t> counted_blocks = {};
};

// Called once per executed instruction that does work (compute, exchange, transfer, host_call, sync, load_code, ...), by the
// thread that finished it. Calls for one (replica, stream) come in order, one at a time; calls for different streams may be
// concurrent. An instruction with a sync is reported once per stream that takes part.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void on_begin(unsigned program) = 0;
  virtual void on_step(const StepEvent& event) = 0;
  virtual void on_end() = 0;
  // Before on_begin of a run that comes after one that did not end well: channels are empty again.
  virtual void on_empty_channels() {}
  // Asked when it is set: are vertices to be counted as they run?
  virtual bool wants_counts() const { return false; }
  // The stream's clock, for cycle_stamp.
  virtual std::uint64_t cycles(ReplicaId replica, StreamId stream) const = 0;
};

}  // namespace pando::tile
