#include "compile/passes/lower_channels.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "compile/communicate.h"

namespace pando::compile {

namespace {

// Bytes [block, block + bytes) of a block lie at `at`.
struct Stretch {
  std::uint64_t block = 0;
  std::uint64_t bytes = 0;
  Address at;
};

// Where the bytes of a tensor's elements lie, in their order.
std::vector<Stretch> stretches_of(const Plan& plan, const graph::View& tensor) {
  std::vector<Stretch> list;
  for (const SymbolicMove& m : moves_to_block(plan, tensor, ShardId(), 0))
    for (std::uint32_t i = 0; i < m.count; ++i) {
      const SymbolicMove run = run_of(m, i);
      list.push_back({run.destination.offset, run.bytes, run.source});
    }
  std::sort(list.begin(), list.end(), [](const Stretch& a, const Stretch& b) { return a.block < b.block; });
  return list;
}

// The slots of one end: what of a block is on a tile lies there without gaps, in order.
struct Slots {
  std::vector<Stretch> first;  // slot
  std::uint64_t distance = 0;  // of neighbours, the same on all tiles
};

Slots add_slots_like(Plan& plan, const graph::View& tensor, std::uint32_t capacity, const std::string& name) {
  constexpr std::uint64_t kAlign = 8;
  Slots slots;
  std::map<TileId, std::uint64_t> used;
  const std::vector<Stretch> like = stretches_of(plan, tensor);
  for (const Stretch& s : like) used[plan.shards[s.at.shard].tile] += s.bytes;
  for (const auto& [tile, bytes] : used) slots.distance = std::max(slots.distance, (bytes + kAlign - 1) / kAlign * kAlign);
  std::map<TileId, Address> next;
  for (const auto& [tile, bytes] : used) {
    const ShardId shard = plan.add_temporary(tile, slots.distance * capacity, tile::Category::staging, name);
    plan.shards[shard].always_live = true;
    next[tile] = {shard, 0};
  }
  for (const Stretch& s : like) {
    Address& at = next[plan.shards[s.at.shard].tile];
    slots.first.push_back({s.block, s.bytes, at});
    at.offset += s.bytes;
  }
  return slots;
}

// Both lists cover the same block.
std::vector<SymbolicMove> moves_between(const std::vector<Stretch>& from, const std::vector<Stretch>& to) {
  std::vector<SymbolicMove> moves;
  for (std::size_t f = 0, t = 0; f < from.size() && t < to.size();) {
    const std::uint64_t begin = std::max(from[f].block, to[t].block);
    const std::uint64_t from_end = from[f].block + from[f].bytes, to_end = to[t].block + to[t].bytes, end = std::min(from_end, to_end);
    moves.push_back({{from[f].at.shard, from[f].at.offset + (begin - from[f].block)},
                     {to[t].at.shard, to[t].at.offset + (begin - to[t].block)},
                     static_cast<std::uint32_t>(end - begin),
                     1,
                     0,
                     0});
    f += from_end == end;
    t += to_end == end;
  }
  return moves;
}

}  // namespace

ChannelLowering::ChannelLowering(Plan& plan) : plan_(plan), ends_(plan.graph.channels().size()) {}

StreamId ChannelLowering::stream_of(graph::ChannelId channel, const graph::View& tensor, const char* verb) const {
  StreamId found;
  for (const SymbolicMove& m : moves_to_block(plan_, tensor, ShardId(), 0)) {
    const StreamId stream = plan_.stream_of(m.source.shard);
    if (found.valid() && found != stream)
      fail(ErrorKind::control_program_error, "channel-end",
           "channel '{}': a tensor that is {} lies on tiles of '{}' and of '{}'; it may lie on those of one stream",
           plan_.graph.channels()[channel].name, verb, plan_.out->streams[found.index()].name, plan_.out->streams[stream.index()].name);
    found = stream;
  }
  return found;
}

ActionId ChannelLowering::step(graph::ChannelId channel, const graph::View& tensor, tile::NameId name, bool sends) {
  Ends& ends = ends_[channel.index()];
  const char* const verb = sends ? "sent" : "received";
  const StreamId stream = stream_of(channel, tensor, verb);
  StreamId& end = sends ? ends.sender : ends.receiver;
  if (end.valid() && end != stream)
    fail(ErrorKind::control_program_error, "channel-end",
         "channel '{}': tensors that are {} lie on tiles of '{}' and of '{}'; one stream is at each end",
         plan_.graph.channels()[channel].name, verb, plan_.out->streams[end.index()].name, plan_.out->streams[stream.index()].name);
  end = stream;
  std::vector<Place>& places = sends ? ends.sends : ends.receives;
  auto place = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.tensor == tensor; });
  if (place == places.end()) place = places.insert(places.end(), Place{tensor, {}});
  const ActionId action = plan_.actions.push({.op = sends ? tile::Op::send : tile::Op::receive,
                                              .a = channel.value,
                                              .b = static_cast<std::uint32_t>(place - places.begin()),
                                              .streams = {stream},
                                              .name = name});
  place->actions.push_back(action);
  return action;
}

tile::ExchangeId ChannelLowering::add_exchange(std::vector<SymbolicMove> moves, tile::NameId name) {
  if (plan_.options.merge_moves) merge_moves(moves);
  const tile::ExchangeId id(static_cast<std::uint32_t>(plan_.exchanges.size()));
  plan_.exchanges.push_back({.name = name, .receive = std::move(moves)});
  return id;
}

void ChannelLowering::add_slots(tile::Channel& out, const Ends& ends) {
  const std::string name = plan_.out->names[out.name.index()];
  const Slots sent = add_slots_like(plan_, ends.sends[0].tensor, out.capacity, name + "/sent");
  const Slots received = add_slots_like(plan_, ends.receives[0].tensor, out.capacity, name + "/received");
  out.out_slot = sent.distance;
  out.in_slot = received.distance;
  out.cross = add_exchange(moves_between(sent.first, received.first), out.name);
  for (const Place& p : ends.sends) out.store.push_back(add_exchange(moves_between(stretches_of(plan_, p.tensor), sent.first), out.name));
  for (const Place& p : ends.receives)
    out.take.push_back(add_exchange(moves_between(received.first, stretches_of(plan_, p.tensor)), out.name));
}

void ChannelLowering::add_direct_moves(tile::Channel& out, const Ends& ends) {
  for (const Place& from : ends.sends)
    for (const Place& to : ends.receives)
      out.direct.push_back(add_exchange(moves_between(stretches_of(plan_, from.tensor), stretches_of(plan_, to.tensor)), out.name));
}

// Slots live always: what is left is the tensors.
void ChannelLowering::add_accesses(const Ends& ends) {
  for (const Place& p : ends.sends)
    for (const ActionId action : p.actions) add_move_accesses(plan_, action, moves_to_block(plan_, p.tensor, ShardId(), 0));
  for (const Place& p : ends.receives)
    for (const ActionId action : p.actions) add_move_accesses(plan_, action, moves_from_block(plan_, ShardId(), 0, p.tensor));
}

void ChannelLowering::finish() {
  for (std::uint32_t c = 0; c < ends_.size(); ++c) {
    const Ends& ends = ends_[c];
    const graph::Channel& channel = plan_.graph.channels()[graph::ChannelId(c)];
    tile::Channel out{.name = plan_.name(channel.name), .sender = ends.sender, .receiver = ends.receiver, .capacity = channel.capacity};
    out.bytes = channel.elements * size_of(channel.type);
    out.sends = static_cast<std::uint32_t>(ends.sends.size());
    out.receives = static_cast<std::uint32_t>(ends.receives.size());
    if (out.sends > 0 && out.receives > 0) {
      if (out.sender == out.receiver)
        fail(ErrorKind::control_program_error, "channel-end", "channel '{}': both ends are '{}'; it goes from one stream to another",
             channel.name, plan_.out->streams[out.sender.index()].name);
      if (out.capacity > 0)
        add_slots(out, ends);
      else
        add_direct_moves(out, ends);
      add_accesses(ends);
    } else if (out.sends + out.receives > 0) {
      fail(ErrorKind::control_program_error, "channel-one-end", "channel '{}': the programs {} through it, and never {}", channel.name,
           out.sends > 0 ? "send" : "receive", out.sends > 0 ? "receive" : "send");
    }
    plan_.out->channels.push_back(std::move(out));
  }
}

}  // namespace pando::compile
