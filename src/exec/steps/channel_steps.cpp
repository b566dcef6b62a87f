// Steps that send through channels and receive from them.
#include <utility>

#include "exec/steps/scheduler.h"
#include "exec/steps/step_execution.h"
#include "tile/step.h"

namespace pando::exec {

using tile::Instruction;

Next StepExecution::send_or_receive(Cursor& c, const Instruction& in, ChannelState::End end) {
  const tile::Channel& t = program_.channels[in.a];
  ChannelState& channel = *channels_[c.replica * program_.channels.size() + in.a];
  if (t.capacity == 0) return rendezvous_in_channel(c, in, end);
  if (c.phase == kBegin && !channel.enter(end, c.slot, [&] { scheduler_.publish_here(c); })) return Next::parked;
  c.channel = &channel;
  char* const base = memory_.base(c.replica);
  const std::uint64_t block = channel.block(end);
  char *const out_slot = base + block * t.out_slot, *const in_slot = base + block * t.in_slot;
  if (end == ChannelState::End::receives) {
    const bool is_posted = c.phase == kBegin && scheduler_.post_moves(c, loaded_.exchange(t.take[in.b]).receive, base, in_slot, kBegin + 1);
    return is_posted ? Next::posted : Next::instruction;
  }
  if (c.phase == kBegin && scheduler_.post_moves(c, loaded_.exchange(t.store[in.b]).receive, out_slot, base, kBegin + 1))
    return Next::posted;
  if (c.phase == kBegin + 1 && scheduler_.post_moves(c, loaded_.exchange(t.cross).receive, in_slot, out_slot, kBegin + 2))
    return Next::posted;
  return Next::instruction;
}

// The second to come moves the block, from tensor to tensor.
Next StepExecution::rendezvous_in_channel(Cursor& c, const Instruction& in, ChannelState::End end) {
  const tile::Channel& t = program_.channels[in.a];
  if (c.phase == kBegin) {
    ChannelState& channel = *channels_[c.replica * program_.channels.size() + in.a];
    const std::optional<unsigned> partner = channel.rendezvous(end, c.slot, [&] { scheduler_.publish_here(c); });
    if (!partner) return Next::parked;
    c.partner = *partner;
    const std::uint32_t theirs = scheduler_.cursor(*partner).instruction().b;
    const bool sends = end == ChannelState::End::sends;
    const std::uint32_t send_place = sends ? in.b : theirs, receive_place = sends ? theirs : in.b;
    const MovePlan& plan = loaded_.exchange(t.direct[send_place * t.receives + receive_place]).receive;
    char* const base = memory_.base(c.replica);
    if (scheduler_.post_moves(c, plan, base, base, kBegin + 1)) return Next::posted;
  }
  scheduler_.pass(c.partner);
  return Next::instruction;
}

// What was observed of a block comes before what is observed of its other end.
void StepExecution::leave_channel(Cursor& c, const Instruction& in) {
  const bool sends = tile::row_of(in.op).work == tile::Work::send;
  scheduler_.wake(std::exchange(c.channel, nullptr)->leave(sends ? ChannelState::End::sends : ChannelState::End::receives));
}

}  // namespace pando::exec
