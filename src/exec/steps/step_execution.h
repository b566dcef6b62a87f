// What instructions do to data. Each function runs one part after the other; a part that is posted to the team ends the call,
// and the next call goes on with the next part (Cursor::phase).
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "exec/host/host_ends.h"
#include "exec/memory.h"
#include "exec/steps/cursor.h"
#include "exec/steps/loaded_program.h"
#include "tile/program.h"

namespace pando::exec {

class Scheduler;

class StepExecution {
 public:
  // Keeps references to all of these.
  StepExecution(const tile::Program& program, const TileMemory& memory, LoadedProgram& loaded, HostEnds& ends, Scheduler& scheduler,
                const Options& options);

  Next perform(Cursor& c, const tile::Instruction& in);
  // After a step that moved a block of a channel, and was observed: its other end may go on.
  void leave_channel(Cursor& c, const tile::Instruction& in);

  // Before a run of a program: throws stream_connection_error for what it uses and nobody connected. `keeps`: what channels hold is good.
  void begin_run(unsigned index, bool keeps);
  void end_run() { ends_.end_run(); }

  // Moves a host handle's block to or from the tiles of a replica, on the calling thread.
  void move_handle(tile::TransferId transfer, unsigned replica, char* block) const;
  const ChannelState& channel(unsigned replica, tile::ChannelId id) const {
    return *channels_[replica * program_.channels.size() + id.index()];
  }

  std::ostream* print_stream = nullptr;

 private:
  class Machine;  // a cursor, as steps of little work see it

  Next compute(Cursor& c, const tile::Instruction& in);
  Next exchange(Cursor& c, const tile::Instruction& in);
  Next tile_by_tile(Cursor& c, Pair& pair);
  Next cross_replica(Cursor& c, const tile::Instruction& in);
  Next transfer(Cursor& c, tile::TransferId id);
  Next fifo(Cursor& c, const tile::Transfer& t, tile::TransferId id);
  Next remote(Cursor& c, const tile::Transfer& t, tile::TransferId id);
  Next host_call(Cursor& c, const tile::Instruction& in);
  Next print(Cursor& c, tile::TransferId id);
  Next error(Cursor& c, tile::TransferId id);
  Next send_or_receive(Cursor& c, const tile::Instruction& in, ChannelState::End end);
  Next rendezvous_in_channel(Cursor& c, const tile::Instruction& in, ChannelState::End end);
  void poison(Cursor& c, const MovePlan& plan);
  void check_connected(const tile::Instruction& in) const;

  std::int64_t load(unsigned replica, const tile::Location& l) const;
  void store(unsigned replica, const tile::Location& l, std::int64_t value) const;
  std::string tensor_text(Cursor& c, tile::TransferId id);

  const tile::Program& program_;
  const TileMemory& memory_;
  LoadedProgram& loaded_;
  HostEnds& ends_;
  Scheduler& scheduler_;
  const bool poisons_undefined_;
  const std::shared_ptr<ReplicaLink> link_;              // null: all replicas run here
  std::vector<std::unique_ptr<ChannelState>> channels_;  // [replica][channel]
};

}  // namespace pando::exec
