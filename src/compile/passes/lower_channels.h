// Channels: from the tensors that are sent and received to slots and moves.
#pragma once

#include <vector>

#include "compile/plan.h"

namespace pando::compile {

// Collects the places where a program sends and receives; when all are known, lays out the slots and fills tile::Program::channels.
class ChannelLowering {
 public:
  explicit ChannelLowering(Plan& plan);

  // The action of a step that sends (receives) this tensor. Throws control_program_error for a tensor that is not on one stream.
  ActionId send(graph::ChannelId channel, const graph::View& source, tile::NameId name) { return step(channel, source, name, true); }
  ActionId receive(graph::ChannelId channel, const graph::View& destination, tile::NameId name) {
    return step(channel, destination, name, false);
  }
  void finish();

 private:
  // A tensor at one end, and the steps that use it.
  struct Place {
    graph::View tensor;
    std::vector<ActionId> actions;
  };
  struct Ends {
    std::vector<Place> sends, receives;
    StreamId sender, receiver;
  };
  ActionId step(graph::ChannelId channel, const graph::View& tensor, tile::NameId name, bool sends);
  StreamId stream_of(graph::ChannelId channel, const graph::View& tensor, const char* verb) const;
  void add_slots(tile::Channel& out, const Ends& ends);
  void add_direct_moves(tile::Channel& out, const Ends& ends);
  void add_accesses(const Ends& ends);
  tile::ExchangeId add_exchange(std::vector<SymbolicMove> moves, tile::NameId name);

  Plan& plan_;
  std::vector<Ends> ends_;  // by channel
};

}  // namespace pando::compile
