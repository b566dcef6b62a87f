// Runs a projected program: every device its own program, in turns, until none can go on. Which values flow is the domain's matter: tensors
// (run.h) or terms (terms.h).
//
// A program is a network of processes with one sender and one receiver for each stream and waiting reads: what it computes does not depend
// on the order of turns. So one order is enough, and it is the same one every time.
#pragma once

#include "ir/error.h"
#include "project/program.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pando::project {

struct MachineOptions {
  std::int64_t samples = 1;
  // Of all streams, in place of what the program declares.
  std::optional<std::int64_t> capacity;
};

// What waits where, in words: what a deadlock's error says of one device.
struct Waiting {
  std::int32_t device;
  std::int64_t trip;
  bool sends;
  std::uint32_t stream;
};
std::string describe(const ProjectedProgram& program, const std::vector<Waiting>& waiting);

// The error of a run in which devices wait for ever.
class Deadlock : public ModelError {
 public:
  Deadlock(const ProjectedProgram& program, std::vector<Waiting> who)
      : ModelError(Class::runtime, "C5-deadlock", describe(program, who) + " [C5-deadlock]", {}), waiting(std::move(who)) {}
  std::vector<Waiting> waiting;
};

// D has a type Value (empty when made by default: `D::is_empty`), and
//     Value initial(const Buffer&)                         what a state begins with, or a sum (zeros)
//     Value input(const Stream&, std::int64_t message)     what the host sends
//     std::vector<Value> evaluate(ir::OpId, std::vector<Value>)
template <class D>
class Machine {
 public:
  using Value = typename D::Value;

  Machine(const ProjectedProgram& program, D& domain, const MachineOptions& options)
      : p_(program), domain_(domain), samples_(options.samples) {
    if (p_.policy.windowed() && samples_ % p_.policy.window != 0) {
      ir::reject(ir::ErrorClass::value, "samples-of-windows", "{} samples; windows have {}", samples_, p_.policy.window);
    }
    for (const Stream& s : p_.streams) {
      channels_.push_back({});
      channels_.back().capacity = s.from == kHost || s.to == kHost ? kUnbounded : options.capacity.value_or(s.capacity);
    }
    for (const DeviceProgram& d : p_.devices) {
      devices_.push_back({});
      for (const Buffer& b : d.buffers) {
        devices_.back().memory.emplace_back(static_cast<std::size_t>(b.copies), b.kind == BufferKind::value ? Value() : domain_.initial(b));
      }
      devices_.back().newest.resize(d.buffers.size());
    }
  }

  // Rejects (runtime) a deadlock, a read of what nothing has written, and messages that nobody took.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      offered_ = false;
      for (std::size_t d = 0; d < devices_.size(); ++d) moved |= turn(d);
      moved |= offered_;
    }
    std::vector<Waiting> waiting;
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!devices_[d].done)
        waiting.push_back({p_.devices[d].device, devices_[d].trip, action(d)->kind == ActionKind::send, action(d)->stream});
    }
    if (!waiting.empty()) throw Deadlock(p_, std::move(waiting));
    for (std::size_t s = 0; s < channels_.size(); ++s) {
      if (p_.streams[s].to == kHost || channels_[s].queue.empty()) continue;
      ir::reject(ir::ErrorClass::runtime, "C7-drain", "stream '{}' holds {} messages that nobody took", p_.streams[s].name,
                 channels_[s].queue.size());
    }
  }

  // What a state holds at the end: the newest version.
  const Value& state(std::size_t device, std::size_t buffer) const {
    return devices_[device].memory[buffer][devices_[device].newest[buffer]];
  }
  // What was sent to the host.
  const std::deque<Value>& output(std::size_t stream) const { return channels_[stream].queue; }

 private:
  enum class Section : std::uint8_t { before, loop, update };
  struct Channel {
    std::int64_t capacity = 0;
    std::deque<Value> queue;
    std::int64_t received = 0;
    // Of a rendezvous.
    std::optional<Value> offer;
    bool taken = false;
  };
  struct DeviceState {
    std::vector<std::vector<Value>> memory;
    // By buffer: the copy that was written last.
    std::vector<std::size_t> newest;
    Section section = Section::before;
    std::int64_t window = 0, trip = 0;
    std::size_t next = 0;
    bool done = false;
  };

  const std::vector<Action>& actions(std::size_t d) const {
    const DeviceProgram& p = p_.devices[d];
    const Section s = devices_[d].section;
    return s == Section::before ? p.before : s == Section::loop ? p.loop : p.update;
  }
  bool drains() const { return p_.policy.kind == PolicyKind::flush; }
  std::int64_t samples_at_once() const { return drains() ? p_.policy.window : samples_; }

  // The action that comes next; steps over ends of trips and sections. None: the device has ended.
  const Action* action(std::size_t d) {
    DeviceState& s = devices_[d];
    while (!s.done) {
      const auto& list = actions(d);
      while (s.section == Section::loop && s.next < list.size() && !list[s.next].guard.runs(s.trip, samples_at_once())) ++s.next;
      if (s.next < list.size()) return &list[s.next];
      s.next = 0;
      if (s.section == Section::before) {
        s.section = Section::loop;
        s.done = samples_ == 0;
      } else if (s.section == Section::loop && ++s.trip >= samples_at_once() + p_.drain) {
        s.trip = 0;
        s.section = Section::update;
        if (!drains()) s.done = true;
      } else if (s.section == Section::update) {
        s.section = Section::loop;
        s.done = ++s.window >= samples_ / p_.policy.window;
      }
    }
    return nullptr;
  }

  // Goes on with a device until it must wait.
  bool turn(std::size_t d) {
    bool moved = false;
    for (const Action* a = action(d); a; a = action(d)) {
      const bool ran = a->kind == ActionKind::compute ? compute(d, *a) : a->kind == ActionKind::send ? send(d, *a) : receive(d, *a);
      if (!ran) return moved;
      moved = true;
      ++devices_[d].next;
    }
    return moved;
  }

  std::size_t copy(std::size_t d, const Slot& s) const {
    const std::size_t copies = devices_[d].memory[s.buffer].size();
    return copies == 1 ? 0 : static_cast<std::size_t>(s.copy(devices_[d].trip, static_cast<std::int64_t>(copies)));
  }
  void write(std::size_t d, const Slot& s, Value v) {
    const std::size_t to = devices_[d].newest[s.buffer] = copy(d, s);
    devices_[d].memory[s.buffer][to] = std::move(v);
  }
  Value read(std::size_t d, const Action& a, const Slot& s) {
    const DeviceProgram& p = p_.devices[d];
    const Buffer& b = p.buffers[s.buffer];
    // A sum begins anew with each window.
    const bool adds = b.kind == BufferKind::sum && a.result_count == 1 && p.results(a)[0].buffer == s.buffer;
    if (adds && p_.policy.windowed() && (devices_[d].trip - a.guard.first) % p_.policy.window == 0) return domain_.initial(b);
    const Value& v = devices_[d].memory[s.buffer][copy(d, s)];
    if (D::is_empty(v)) {
      ir::reject(ir::ErrorClass::runtime, "C1-order", "device {}, trip {}: '{}' reads '{}', which nothing has written", p.device,
                 devices_[d].trip, name_of(p, a), b.name);
    }
    return v;
  }

  bool compute(std::size_t d, const Action& a) {
    const DeviceProgram& p = p_.devices[d];
    std::vector<Value> operands;
    operands.reserve(a.operand_count);
    for (const Slot& s : p.operands(a)) operands.push_back(read(d, a, s));
    std::vector<Value> results = domain_.evaluate(a.op, std::move(operands));
    for (std::size_t i = 0; i < results.size(); ++i) write(d, p.results(a)[i], std::move(results[i]));
    return true;
  }

  bool send(std::size_t d, const Action& a) {
    Channel& c = channels_[a.stream];
    if (c.capacity != 0) {
      if (c.capacity > 0 && static_cast<std::int64_t>(c.queue.size()) >= c.capacity) return false;
      c.queue.push_back(read(d, a, p_.devices[d].operands(a)[0]));
      return true;
    }
    if (c.taken) {
      c.taken = false;
      return true;
    }
    if (!c.offer) {
      c.offer = read(d, a, p_.devices[d].operands(a)[0]);
      offered_ = true;
    }
    return false;
  }

  bool receive(std::size_t d, const Action& a) {
    Channel& c = channels_[a.stream];
    const Slot& to = p_.devices[d].results(a)[0];
    if (p_.streams[a.stream].from == kHost) {
      write(d, to, domain_.input(p_.streams[a.stream], c.received++));
    } else if (!c.queue.empty()) {
      write(d, to, std::move(c.queue.front()));
      c.queue.pop_front();
    } else if (c.offer) {
      write(d, to, std::move(*c.offer));
      c.offer.reset();
      c.taken = true;
    } else {
      return false;
    }
    return true;
  }

  const ProjectedProgram& p_;
  D& domain_;
  std::int64_t samples_;
  // Since the last round: an offer that a device before it can take now.
  bool offered_ = false;
  std::vector<Channel> channels_;
  std::vector<DeviceState> devices_;
};

}  // namespace pando::project
