#include "exec/steps/scheduler.h"

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "exec/steps/step_execution.h"

// Cursors, syncs, the order of host steps, control flow.
namespace pando::exec {

using tile::Flow;
using tile::Instruction;

Scheduler::Scheduler(const tile::Program& program, LoadedProgram& loaded, StepExecution& steps, const Options& options, unsigned threads)
    : program_(program),
      loaded_(loaded),
      steps_(steps),
      cursors_(program.replication * program.streams.size()),
      team_(threads, static_cast<unsigned>(cursors_.size()), *this, options.workers ? options.workers : std::make_shared<Workers>(),
            options.linger) {
  for (unsigned slot = 0; slot < cursors_.size(); ++slot) {
    Cursor& c = cursors_[slot];
    c.slot = slot;
    c.replica = slot / static_cast<unsigned>(program.streams.size());
    c.stream = StreamId(slot % static_cast<unsigned>(program.streams.size()));
    c.code = &program.streams[c.stream.index()];
    c.loaded.resize(program.functions.size());
  }
  build_sync_points();
}

void Scheduler::build_sync_points() {
  const auto streams = static_cast<unsigned>(program_.streams.size());
  for (unsigned r = 0; r < program_.replication; ++r)
    for (const tile::Sync& sync : program_.syncs) {
      syncs_.push_back(std::make_unique<SyncPoint>());
      for (const StreamId s : sync.streams) syncs_.back()->slots.push_back(r * streams + s.value);
    }
  const auto across = [&](const std::vector<StreamId>& members) {
    replica_syncs_.push_back(std::make_unique<SyncPoint>());
    for (unsigned r = 0; r < program_.replication; ++r)
      for (const StreamId s : members) replica_syncs_.back()->slots.push_back(r * streams + s.value);
  };
  for (const tile::Sync& sync : program_.syncs) across(sync.streams);
  for (unsigned s = 0; s < streams; ++s) across({StreamId(s)});
}

void Scheduler::run(unsigned index) {
  reset(index);
  if (observer && !is_whole_) observer->on_empty_channels();
  if (observer) observer->on_begin(index);
  is_whole_ = false;
  std::vector<unsigned> starts;
  for (const Cursor& c : cursors_) starts.push_back(c.slot);
  std::exception_ptr error;
  try {
    team_.run(starts);
  } catch (...) { error = std::current_exception(); }
  if (observer) observer->on_end();
  if (error) std::rethrow_exception(error);
  if (stop_.load()) return;
  reject_waiting();
  is_whole_ = true;
}

void Scheduler::reset(unsigned index) {
  stop_.store(false);
  std::vector<bool> participants(cursors_.size());
  for (const Cursor& c : cursors_) participants[c.slot] = !loaded_.host_steps(index, c.stream).empty();
  order_.begin(participants);
  for (auto& m : syncs_) m->arrived.store(0);
  for (auto& m : replica_syncs_) m->arrived.store(0);
  for (Cursor& c : cursors_) {
    c.pc = c.code->entries[index];
    c.channel = nullptr;
    c.phase = kArrive;
    c.ended = c.leaves_host_step = c.computed = false;
    c.steps = 0;
    c.frames.clear();
  }
}

bool Scheduler::done(unsigned slot) {
  Cursor& c = cursors_[slot];
  while (!team_.aborting() && !stop_.load(std::memory_order_relaxed) && !c.ended) {
    const Next next = step(c);  // parked: another thread may already go on with the cursor
    if (next != Next::instruction) return next == Next::posted;
  }
  return false;
}

Next Scheduler::step(Cursor& c) {
  const Instruction& in = c.code->code[c.pc];
  if (c.phase == kPassed) {
    finish(c, in);
    return Next::instruction;
  }
  SyncPoint* const sync = sync_point(c, in);
  if (c.phase == kArrive) {
    if (order_.concerns(c.slot) && order_.has_waiters()) wake(order_.publish(c.slot, next_host_position(c)));
    if (sync && !arrive(c, *sync)) return Next::parked;
    c.phase = kBegin;
  }
  const Next next = steps_.perform(c, in);
  if (next != Next::instruction) return next;
  if (sync) release(c, *sync);
  if (observer) observe(c, in);
  if (c.channel) steps_.leave_channel(c, in);
  finish(c, in);
  if (c.leaves_host_step) {
    c.leaves_host_step = false;
    wake(order_.leave(c.slot, position(c)));
  }
  return Next::instruction;
}

// Jumps of a stranger's program may lead to ends of loops and calls that were not begun, or begin them without end.
void Scheduler::enter(Cursor& c, Frame frame) {
  constexpr std::size_t kDeepest = 1 << 14;
  if (c.frames.size() >= kDeepest)
    fail(ErrorKind::control_program_error, "nested-too-deep", "instruction {} of stream {} is {} loops and calls deep", c.pc, c.code->name,
         kDeepest);
  c.frames.push_back(frame);
}
Frame& Scheduler::innermost(Cursor& c, bool is_call) {
  if (c.frames.empty() || c.frames.back().is_call != is_call)
    fail(ErrorKind::control_program_error, "loops-cross", "instruction {} of stream {} ends a {} that did not begin", c.pc, c.code->name,
         is_call ? "call" : "loop");
  return c.frames.back();
}

// Where the cursor goes on.
void Scheduler::finish(Cursor& c, const Instruction& in) {
  c.phase = kArrive;
  ++c.steps;
  const std::uint32_t next = c.pc + 1;
  switch (tile::row_of(in.op).flow) {
    case Flow::next: c.pc = next; return;
    case Flow::repeat:
      if (in.count > 0) enter(c, {in.order, 0, loaded_.hostless_exit(c.stream, c.pc), false, 0, in.count});
      c.pc = in.count > 0 ? next : in.target;
      return;
    case Flow::repeat_end: {
      Frame& loop = innermost(c, false);
      ++loop.round;
      const bool again = --loop.remaining > 0;
      if (!again) c.frames.pop_back();
      c.pc = again ? in.target : next;
      return;
    }
    case Flow::loop_begin:
      enter(c, {in.order, 0, loaded_.hostless_exit(c.stream, c.pc), false, 0, 0});
      c.pc = next;
      return;
    case Flow::loop_next:
      ++innermost(c, false).round;
      c.pc = in.target;
      return;
    case Flow::loop_end:
      innermost(c, false), c.frames.pop_back();
      c.pc = next;
      return;
    case Flow::branch: c.pc = c.jumps ? in.target : next; return;
    case Flow::jump: c.pc = in.target; return;
    case Flow::call:
      if (in.b != 0 && !c.loaded[in.a])
        fail(ErrorKind::control_program_error, "code-not-loaded",
             "function '{}' is called, but its code is in Streaming Memory: copy it to the tiles first", program_.functions[in.a]);
      enter(c, {in.order, next, 0, true, 0, 0});
      c.pc = in.target;
      return;
    case Flow::give_back:
      c.pc = innermost(c, true).return_to;
      c.frames.pop_back();
      return;
    case Flow::end:
      c.ended = true;
      if (order_.concerns(c.slot)) wake(order_.finish(c.slot));
      return;
  }
}

void Scheduler::observe(const Cursor& c, const Instruction& in) {
  if (!in.sync.valid() && !tile::row_of(in.op).is_observed) return;
  tile::StepEvent event{ReplicaId(c.replica), c.stream, c.pc, {}, {}};
  if (tile::row_of(in.op).work == tile::Work::compute && observer->wants_counts())
    event.counted = loaded_.compute(c.replica, tile::ComputeId(in.a)).counted().cycles(),
    event.counted_blocks = loaded_.compute(c.replica, tile::ComputeId(in.a)).counted().blocks();
  observer->on_step(event);
}

bool Scheduler::post(Cursor& c, Work& work, unsigned chunks, std::uint64_t cost, std::uint32_t phase) {
  c.phase = phase;
  if (team_.threads() > 1 && chunks > 1 && cost >= kWorthSharing) {
    team_.post(c.slot, work, chunks);
    return true;
  }
  for (unsigned k = 0; k < chunks; ++k) work.run(c.slot, k);
  return false;
}

bool Scheduler::post_moves(Cursor& c, const MovePlan& plan, char* destination, const char* source, std::uint32_t phase) {
  c.moves.plan = &plan;
  c.moves.destination = destination;
  c.moves.source = source;
  return post(c, c.moves, plan.chunks(), plan.cost(), phase);
}

Scheduler::SyncPoint* Scheduler::sync_point(const Cursor& c, const Instruction& in) {
  if (tile::row_of(in.op).work == tile::Work::cross_replica)
    return replica_syncs_[in.sync.valid() ? in.sync.index() : program_.syncs.size() + c.stream.index()].get();
  if (!in.sync.valid()) return nullptr;
  return syncs_[c.replica * program_.syncs.size() + in.sync.index()].get();
}

// True for the last to come. For the others, the cursor belongs to the last one from the moment they have arrived. Their bound
// lies just behind the sync's position: if it is a host step, the last one does it for all.
bool Scheduler::arrive(Cursor& c, SyncPoint& r) {
  const unsigned slot = c.slot;
  const bool concerned = order_.concerns(slot);
  Position behind;
  if (concerned) {
    behind = next_host_position(c);
    if (!in_hostless_loop(c)) behind.push_back(1);
  }
  const auto all = static_cast<std::uint32_t>(r.slots.size());
  if (r.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < all) {
    if (concerned) wake(order_.publish(slot, behind));
    return false;
  }
  r.arrived.store(0, std::memory_order_relaxed);
  return true;
}

void Scheduler::release(Cursor& c, SyncPoint& r) {
  for (const unsigned slot : r.slots) {
    if (slot == c.slot) continue;
    cursors_[slot].jumps = c.jumps;
    pass(slot);
  }
}

void Scheduler::pass(unsigned slot) {
  Cursor& other = cursors_[slot];
  other.phase = kPassed;
  if (observer) observe(other, other.instruction());
  team_.start(slot);
}

void Scheduler::publish_here(const Cursor& c) {
  if (order_.concerns(c.slot)) wake(order_.publish(c.slot, next_host_position(c)));
}

Position Scheduler::position(const Cursor& c) const {
  Position at;
  for (const Frame& f : c.frames) {
    at.push_back(f.order);
    at.push_back(f.round);
  }
  at.push_back(c.code->code[c.pc].order);
  return at;
}

bool Scheduler::in_hostless_loop(const Cursor& c) const {
  return std::any_of(c.frames.begin(), c.frames.end(), [](const Frame& f) { return f.hostless_exit != 0; });
}

Position Scheduler::next_host_position(const Cursor& c) const {
  Position at;
  for (const Frame& f : c.frames) {
    if (f.hostless_exit != 0) {
      at.push_back(c.code->code[f.hostless_exit].order);
      return at;
    }
    at.push_back(f.order);
    at.push_back(f.round);
  }
  at.push_back(c.code->code[c.pc].order);
  return at;
}

bool Scheduler::enter_host_step(Cursor& c) {
  if (!order_.concerns(c.slot)) return true;
  const unsigned slot = c.slot;
  const std::optional<unsigned> granted = order_.enter(slot, position(c));
  if (granted != slot) {
    wake(granted);
    return false;
  }
  c.leaves_host_step = true;
  return true;
}

}  // namespace pando::exec
