// Steps that send through channels and receive from them.
#include "exec/interpreter.h"

namespace pando::exec {

using tile::Instruction;

void Interpreter::build_channels() {
  for (unsigned r = 0; r < program_.replication; ++r)
    for (const tile::Channel& c : program_.channels) channels_.push_back(std::make_unique<ChannelState>(c.capacity));
}

// Before a cursor parks: it comes to no host step before this one.
void Interpreter::publish_here(const Cursor& c) {
  if (order_.concerns(c.slot)) start(order_.publish(c.slot, next_host_position(c)));
}

Interpreter::Next Interpreter::transfer_block(Cursor& c, const Instruction& in, ChannelState::End end) {
  const tile::Channel& t = program_.channels[in.a];
  ChannelState& channel = *channels_[c.replica * program_.channels.size() + in.a];
  if (t.capacity == 0) return rendezvous_block(c, in, end);
  if (c.phase == kBegin && !channel.enter(end, c.slot, [&] { publish_here(c); })) return Next::parked;
  c.channel = &channel;
  char* const base = memory_.base(c.replica);
  const std::uint64_t block = channel.block(end);
  char *const out_slot = base + block * t.out_slot, *const in_slot = base + block * t.in_slot;
  if (end == ChannelState::End::receives) {
    const bool is_posted = c.phase == kBegin && post_moves(c, exchanges_[t.take[in.b].index()].receive, base, in_slot, kBegin + 1);
    return is_posted ? Next::posted : Next::instruction;
  }
  if (c.phase == kBegin && post_moves(c, exchanges_[t.store[in.b].index()].receive, out_slot, base, kBegin + 1)) return Next::posted;
  if (c.phase == kBegin + 1 && post_moves(c, exchanges_[t.cross.index()].receive, in_slot, out_slot, kBegin + 2)) return Next::posted;
  return Next::instruction;
}

// The second to come moves the block, from tensor to tensor.
Interpreter::Next Interpreter::rendezvous_block(Cursor& c, const Instruction& in, ChannelState::End end) {
  const tile::Channel& t = program_.channels[in.a];
  if (c.phase == kBegin) {
    ChannelState& channel = *channels_[c.replica * program_.channels.size() + in.a];
    const std::optional<unsigned> partner = channel.meet(end, c.slot, [&] { publish_here(c); });
    if (!partner) return Next::parked;
    c.partner = *partner;
    const Cursor& other = cursors_[*partner];
    const std::uint32_t theirs = other.code->code[other.pc].b;
    const bool sends = end == ChannelState::End::sends;
    const std::uint32_t send_place = sends ? in.b : theirs, receive_place = sends ? theirs : in.b;
    const MovePlan& plan = exchanges_[t.direct[send_place * t.receives + receive_place].index()].receive;
    char* const base = memory_.base(c.replica);
    if (post_moves(c, plan, base, base, kBegin + 1)) return Next::posted;
  }
  Cursor& other = cursors_[c.partner];
  other.phase = kPassed;
  if (observer) observe(other, other.code->code[other.pc]);
  team_.start(c.partner);
  return Next::instruction;
}

// What was observed of a block comes before what is observed of its other end.
void Interpreter::leave_channel(Cursor& c, const Instruction& in) {
  const bool sends = tile::row_of(in.op).work == tile::Work::send;
  start(std::exchange(c.channel, nullptr)->leave(sends ? ChannelState::End::sends : ChannelState::End::receives));
}

}  // namespace pando::exec
