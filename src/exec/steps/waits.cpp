// What the streams of a run that cannot go on wait for.
#include <fmt/format.h>

#include "base/error.h"
#include "exec/steps/scheduler.h"
#include "exec/steps/step_execution.h"

namespace pando::exec {

using tile::Instruction;

std::string Scheduler::wait_of(const Cursor& c, const Instruction& in) const {
  const tile::StepRow& row = tile::row_of(in.op);
  if (row.work == tile::Work::send || row.work == tile::Work::receive) {
    const tile::Channel& t = program_.channels[in.a];
    const bool sends = row.work == tile::Work::send;
    const std::string& name = program_.names[t.name.index()];
    const std::string& partner = program_.streams[(sends ? t.receiver : t.sender).index()].name;
    if (t.capacity == 0)
      return fmt::format("to {} channel '{}', where '{}' does not come", sends ? "send through" : "receive from", name, partner);
    const std::uint64_t blocks = steps_.channel(c.replica, tile::ChannelId(in.a)).waiting_blocks();
    if (sends)
      return fmt::format("to send through channel '{}', which is full: '{}' has {} of {} blocks to receive", name, partner, blocks,
                         t.capacity);
    return fmt::format("to receive from channel '{}', which is empty: '{}' sends nothing", name, partner);
  }
  if (in.sync.valid() && c.phase == kArrive) {
    std::string streams;
    for (const StreamId s : program_.syncs[in.sync.index()].streams)
      if (s != c.stream) streams += fmt::format("{}'{}'", streams.empty() ? "" : ", ", program_.streams[s.index()].name);
    return "to sync with " + streams;
  }
  return loaded_.is_host_step(in) ? "for its turn at the host, which earlier steps of other streams have first"
                                  : "for streams that do not come";
}

void Scheduler::reject_waiting() const {
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t waiting = 0;
  for (const Cursor& c : cursors_) {
    if (c.ended || ++waiting > kMost) continue;
    const Instruction& in = c.instruction();
    const std::string name = in.name.valid() ? program_.names[in.name.index()] : "";
    text += fmt::format("\n  stream '{}'{} waits at step {}{}, '{}', {}", c.code->name,
                        program_.replication > 1 ? fmt::format(" of replica {}", c.replica) : "", in.order,
                        name.empty() ? "" : " '" + name + "'", tile::text_of(program_, in), wait_of(c, in));
  }
  if (waiting == 0) return;
  if (waiting > kMost) text += fmt::format("\n  and {} more", waiting - kMost);
  fail(ErrorKind::control_program_error, "streams-wait", "the program cannot go on: its streams wait for each other{}", text);
}

}  // namespace pando::exec
