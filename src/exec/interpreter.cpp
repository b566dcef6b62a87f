#include "exec/interpreter.h"

#include <algorithm>
#include <exception>

#include "base/check.h"
#include "base/error.h"
#include "base/threads.h"

// Scheduling: cursors, meets, the order of host steps, control flow. What instructions do to data: instructions.cpp; what is
// prepared at load: plans.cpp.
namespace pando::exec {

using tile::Instruction;
using tile::Flow;

Interpreter::Interpreter(const tile::Program& program, const Library& library, const TileMemory& memory,
                         std::vector<std::unique_ptr<TileContexts>>& contexts, HostEnds& ends, const Options& options)
    : program_(program),
      memory_(memory),
      ends_(ends),
      options_(options),
      host_steps_(program.programs * program.streams.size()),
      cursors_(program.replication * program.streams.size()),
      team_(thread_count(options.threads), static_cast<unsigned>(cursors_.size()), *this, options.workers ? options.workers : std::make_shared<Workers>()) {
  build_plans(4 * team_.threads());
  computes_.resize(program.replication);
  for (unsigned r = 0; r < program.replication; ++r) {
    descriptors_.push_back(std::make_unique<Descriptors>(program, library, memory, r));
    for (std::size_t c = 0; c < program.computes.size(); ++c)
      computes_[r].push_back(std::make_unique<ComputeWork>(program, library, c, *descriptors_[r], *contexts[r], team_.threads(), options.ask_early));
  }
  for (unsigned slot = 0; slot < cursors_.size(); ++slot) {
    Cursor& c = cursors_[slot];
    c.slot = slot;
    c.replica = slot / static_cast<unsigned>(program.streams.size());
    c.stream = StreamId(slot % static_cast<unsigned>(program.streams.size()));
    c.code = &program.streams[c.stream.index()];
    c.loaded.resize(program.functions.size());
  }
  build_tile_by_tile(library, contexts);
  build_rendezvous();
  build_channels();
  find_shared_remote_buffers();
  find_quiet_loops();
}

void Interpreter::run(unsigned index) {
  if (index >= program_.programs)
    fail(ErrorKind::control_program_error, "program-index", "there is no program {}; the executable has {}", index, program_.programs);
  reset(index);
  if (observer && !is_whole_) observer->on_empty_channels();
  if (observer) observer->on_begin(index);
  is_whole_ = false;
  std::vector<unsigned> starts;
  for (const Cursor& c : cursors_) starts.push_back(c.slot);
  std::exception_ptr error;
  try {
    team_.run(starts);
  } catch (...) {
    error = std::current_exception();
  }
  if (observer) observer->on_end();
  ends_.end_run();
  if (error) std::rethrow_exception(error);
  if (stop_.load()) return;
  refuse_waiting();
  is_whole_ = true;
}

void Interpreter::reset(unsigned index) {
  stop_.store(false);
  std::vector<bool> participants(cursors_.size());
  for (std::size_t s = 0; s < program_.streams.size(); ++s) {
    std::optional<std::vector<std::uint32_t>>& steps = host_steps_[index * program_.streams.size() + s];
    if (!steps) steps = find_host_steps(program_.streams[s], index);
    for (const std::uint32_t i : *steps) check_connected(program_.streams[s].code[i]);
    for (unsigned r = 0; r < program_.replication; ++r) participants[r * program_.streams.size() + s] = !steps->empty();
  }
  order_.begin(participants);
  for (auto& m : meets_) m->arrived.store(0);
  for (auto& m : replica_meets_) m->arrived.store(0);
  for (auto& channel : channels_) channel->begin_run(!is_whole_);
  for (Cursor& c : cursors_) {
    c.pc = c.code->entries[index];
    c.channel = nullptr;
    c.phase = kArrive;
    c.ended = c.leaves_host_step = c.computed = false;
    c.steps = 0;
    c.frames.clear();
  }
}

bool Interpreter::done(unsigned slot) {
  Cursor& c = cursors_[slot];
  while (!team_.aborting() && !stop_.load(std::memory_order_relaxed) && !c.ended) {
    const Next next = step(c);  // parked: another thread may already go on with the cursor
    if (next != Next::instruction) return next == Next::posted;
  }
  return false;
}

Interpreter::Next Interpreter::step(Cursor& c) {
  const Instruction& in = c.code->code[c.pc];
  if (c.phase == kPassed) {
    finish(c, in);
    return Next::instruction;
  }
  Rendezvous* const meeting = rendezvous(c, in);
  if (c.phase == kArrive) {
    if (order_.concerns(c.slot) && order_.has_waiters()) start(order_.publish(c.slot, next_host_position(c)));
    if (meeting && !arrive(c, *meeting)) return Next::parked;
    c.phase = kBegin;
  }
  const Next next = perform(c, in);
  if (next != Next::instruction) return next;
  if (meeting) release(c, *meeting);
  if (observer) observe(c, in);
  if (c.channel) leave_channel(c, in);
  finish(c, in);
  if (c.leaves_host_step) {
    c.leaves_host_step = false;
    start(order_.leave(c.slot, position(c)));
  }
  return Next::instruction;
}

// Jumps of a stranger's program may lead to ends of loops and calls that were not begun, or begin them without end.
void Interpreter::enter(Cursor& c, Frame frame) {
  constexpr std::size_t kDeepest = 1 << 14;
  if (c.frames.size() >= kDeepest) fail(ErrorKind::control_program_error, "nested-too-deep", "instruction {} of stream {} is {} loops and calls deep", c.pc, c.code->name, kDeepest);
  c.frames.push_back(frame);
}
Interpreter::Frame& Interpreter::innermost(Cursor& c, bool is_call) {
  if (c.frames.empty() || c.frames.back().is_call != is_call)
    fail(ErrorKind::control_program_error, "loops-cross", "instruction {} of stream {} ends a {} that did not begin", c.pc, c.code->name, is_call ? "call" : "loop");
  return c.frames.back();
}

// Where the cursor goes on.
void Interpreter::finish(Cursor& c, const Instruction& in) {
  c.phase = kArrive;
  ++c.steps;
  const std::uint32_t next = c.pc + 1;
  switch (tile::row_of(in.op).flow) {
    case Flow::next: c.pc = next; return;
    case Flow::repeat:
      if (in.count > 0) enter(c, {in.order, 0, quiet_exits_[c.stream.index()][c.pc], false, 0, in.count});
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
    case Flow::loop_begin: enter(c, {in.order, 0, quiet_exits_[c.stream.index()][c.pc], false, 0, 0}); c.pc = next; return;
    case Flow::loop_next: ++innermost(c, false).round; c.pc = in.target; return;
    case Flow::loop_end: innermost(c, false), c.frames.pop_back(); c.pc = next; return;
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
      if (order_.concerns(c.slot)) start(order_.finish(c.slot));
      return;
  }
}

void Interpreter::observe(const Cursor& c, const Instruction& in) {
  if (in.meet.valid() || tile::row_of(in.op).is_observed) observer->on_step({ReplicaId(c.replica), c.stream, c.pc});
}

bool Interpreter::post(Cursor& c, Work& work, unsigned chunks, std::uint64_t cost, std::uint32_t phase) {
  c.phase = phase;
  if (team_.threads() > 1 && chunks > 1 && cost >= kWorthSharing) {
    team_.post(c.slot, work, chunks);
    return true;
  }
  for (unsigned k = 0; k < chunks; ++k) work.run(c.slot, k);
  return false;
}

bool Interpreter::post_moves(Cursor& c, const MovePlan& plan, char* destination, const char* source, std::uint32_t phase) {
  c.moves.plan = &plan;
  c.moves.destination = destination;
  c.moves.source = source;
  return post(c, c.moves, plan.chunks(), plan.cost(), phase);
}

Interpreter::Rendezvous* Interpreter::rendezvous(const Cursor& c, const Instruction& in) {
  if (tile::row_of(in.op).work == tile::Work::cross_replica)
    return replica_meets_[in.meet.valid() ? in.meet.index() : program_.meets.size() + c.stream.index()].get();
  if (!in.meet.valid()) return nullptr;
  return meets_[c.replica * program_.meets.size() + in.meet.index()].get();
}

// True for the last to come. For the others, the cursor belongs to the last one from the moment they have arrived. Their bound
// lies just behind the meeting's position: if it is a host step, the last one does it for all.
bool Interpreter::arrive(Cursor& c, Rendezvous& r) {
  const unsigned slot = c.slot;
  const bool concerned = order_.concerns(slot);
  Position behind;
  if (concerned) {
    behind = next_host_position(c);
    if (!in_quiet_loop(c)) behind.push_back(1);
  }
  const auto all = static_cast<std::uint32_t>(r.slots.size());
  if (r.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < all) {
    if (concerned) start(order_.publish(slot, behind));
    return false;
  }
  r.arrived.store(0, std::memory_order_relaxed);
  return true;
}

void Interpreter::release(Cursor& c, Rendezvous& r) {
  for (const unsigned slot : r.slots) {
    if (slot == c.slot) continue;
    Cursor& other = cursors_[slot];
    other.jumps = c.jumps;
    other.phase = kPassed;
    if (observer) observe(other, other.code->code[other.pc]);
    team_.start(slot);
  }
}

Position Interpreter::position(const Cursor& c) const {
  Position at;
  for (const Frame& f : c.frames) {
    at.push_back(f.order);
    at.push_back(f.round);
  }
  at.push_back(c.code->code[c.pc].order);
  return at;
}

bool Interpreter::in_quiet_loop(const Cursor& c) const {
  return std::any_of(c.frames.begin(), c.frames.end(), [](const Frame& f) { return f.quiet_exit != 0; });
}

Position Interpreter::next_host_position(const Cursor& c) const {
  Position at;
  for (const Frame& f : c.frames) {
    if (f.quiet_exit != 0) {
      at.push_back(c.code->code[f.quiet_exit].order);
      return at;
    }
    at.push_back(f.order);
    at.push_back(f.round);
  }
  at.push_back(c.code->code[c.pc].order);
  return at;
}

// False: the cursor waits for its turn and must not be touched any more.
bool Interpreter::enter_host_step(Cursor& c) {
  if (!order_.concerns(c.slot)) return true;
  const unsigned slot = c.slot;
  const std::optional<unsigned> granted = order_.enter(slot, position(c));
  if (granted != slot) {
    start(granted);
    return false;
  }
  c.leaves_host_step = true;
  return true;
}

}  // namespace pando::exec
