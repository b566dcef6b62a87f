// What a distributed run consists of: one program for each device, and the channels between them.
//
// A device's program is a module of one device (its device 0). A message is a store to a stream of its host, and a load from one: whoever
// runs the module hands the bytes on (run.h). Both ends hold the channel's slots as a variable, `slots of NAME`, which is always live:
// capacity is paid for in tile memory on both sides.
#pragma once

#include "exec/transports/channels.h"
#include "ir/module.h"
#include "transform/distribute/pieces.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pando::split {

// One end of a channel.
struct ChannelEnd {
  std::uint32_t channel = 0;
  ir::HostStreamId stream;  // of the part's module
  bool sends = false;
};

// A stream of the whole program, as one device uses it. Block number k of the device's (from the beginning of the run) is block
// k / taken.size() * per_round + taken[k % taken.size()] of the stream.
struct HostEnd {
  std::string name;
  ir::HostStreamId stream;
  bool to_device = false;
  std::vector<std::int64_t> taken{0};
  std::int64_t per_round = 1;
  // Of the stream, in one step of the run.
  std::int64_t blocks_per_step = 1;

  std::int64_t block(std::int64_t k) const {
    const auto n = static_cast<std::int64_t>(taken.size());
    return k / n * per_round + taken[static_cast<std::size_t>(k % n)];
  }
};

struct Part {
  std::int32_t device = 0;
  ir::Module module;
  std::vector<ChannelEnd> channels;
  std::vector<HostEnd> host;
};

struct Program {
  // Ranks are not known yet.
  std::vector<exec::Channel> channels;
  // By ascending device.
  std::vector<Part> parts;
  // Of a module with replicas: which part of what variables, streams and outputs are.
  std::optional<transform::PieceTable> pieces;
};

// Of all that is compiled: ranks that run the same program have the same.
std::uint64_t hash_of(const Program& program);

// The name of a channel's slots; whether a variable is that.
std::string slots_name(const std::string& channel);
bool is_slots(const std::string& variable);
// Variables, and streams from the host: what data may be given for.
std::set<std::string> names_of(const Program& program);

}  // namespace pando::split
