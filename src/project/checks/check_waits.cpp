// C5: who waits for whom, for every number of samples.
//
// Events are sends and receives of samples; at capacity 0 both are one event. Event b of sample i + w waits for event a of sample i
//     along a device's list: a's lag - b's lag, one trip more from the last to the first;
//     from a send to its receive: 0; from the receive to the send that finds its place free: the capacity.
// A device waits for ever if and only if a cycle of these has a total of 0 or less.
#include "ir/error.h"
#include "project/checks/check.h"
#include "project/running/machine.h"
#include "project/text/print.h"

#include <fmt/format.h>

namespace pando::project {

namespace {

// Values that are nothing but there: a run with them shows who waits.
struct Silence {
  struct Value {};
  static bool is_empty(Value) { return false; }
  const ir::Module& module;
  Value initial(const Buffer&) const { return {}; }
  Value input(const Stream&, std::int64_t) const { return {}; }
  std::vector<Value> evaluate(ir::OpId op, const std::vector<Value>&) const { return std::vector<Value>(module.op(op).result_count); }
};

class Waits {
 public:
  Waits(const ProjectedProgram& p, bool in_loop)
      : p_(p), in_loop_(in_loop), sends_(p.streams.size(), -1), receives_(p.streams.size(), -1) {}

  bool may_wait_for_ever(std::vector<Action> DeviceProgram::* section) {
    for (const DeviceProgram& d : p_.devices) list(d.*section);
    for (std::size_t s = 0; s < p_.streams.size(); ++s) {
      if (sends_[s] < 0 || sends_[s] == receives_[s]) continue;
      add(sends_[s], receives_[s], 0);
      if (p_.streams[s].capacity > 0 && in_loop_) add(receives_[s], sends_[s], p_.streams[s].capacity);
    }
    return !acyclic_without_trips() && has_cycle();
  }

 private:
  struct Edge {
    std::int32_t from, to;
    std::int64_t distance;
  };
  void add(std::int32_t from, std::int32_t to, std::int64_t distance) { edges_.push_back({from, to, distance}); }

  bool is_between_devices(const Action& a) const {
    return a.kind != ActionKind::compute && p_.streams[a.stream].from != kHost && p_.streams[a.stream].to != kHost;
  }

  std::int32_t event(const Action& a) {
    std::int32_t& mine = a.kind == ActionKind::send ? sends_[a.stream] : receives_[a.stream];
    const std::int32_t other = a.kind == ActionKind::send ? receives_[a.stream] : sends_[a.stream];
    if (p_.streams[a.stream].capacity == 0 && other >= 0) return mine = other;
    lags_.push_back(a.guard.first);
    return mine = static_cast<std::int32_t>(lags_.size() - 1);
  }

  void list(const std::vector<Action>& actions) {
    const Action *first = nullptr, *last = nullptr;
    std::int32_t first_event = -1, last_event = -1;
    for (const Action& a : actions) {
      if (!is_between_devices(a)) continue;
      const std::int32_t e = event(a);
      if (last) {
        add(last_event, e, last->guard.first - a.guard.first);
      } else {
        first = &a;
        first_event = e;
      }
      last = &a;
      last_event = e;
    }
    if (last && in_loop_) add(last_event, first_event, last->guard.first - first->guard.first + 1);
  }

  // In trips instead of samples: if no distance is negative, only cycles of zeros matter.
  bool acyclic_without_trips() const {
    std::vector<std::int32_t> waits(lags_.size(), 0);
    std::vector<std::vector<std::int32_t>> next(lags_.size());
    for (const Edge& e : edges_) {
      const std::int64_t trips = e.distance + lags_[static_cast<std::size_t>(e.to)] - lags_[static_cast<std::size_t>(e.from)];
      if (trips < 0) return false;
      if (trips > 0) continue;
      next[static_cast<std::size_t>(e.from)].push_back(e.to);
      ++waits[static_cast<std::size_t>(e.to)];
    }
    std::vector<std::int32_t> ready;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.push_back(static_cast<std::int32_t>(i));
    }
    std::size_t done = 0;
    for (; done < ready.size(); ++done) {
      for (std::int32_t to : next[static_cast<std::size_t>(ready[done])]) {
        if (--waits[static_cast<std::size_t>(to)] == 0) ready.push_back(to);
      }
    }
    return done == waits.size();
  }

  // Longest paths of 1 - distance * (events + 1): they have no end if a cycle's distance is 0 or less.
  bool has_cycle() const {
    const auto scale = static_cast<std::int64_t>(lags_.size()) + 1;
    std::vector<std::int64_t> longest;
    for (std::int64_t lag : lags_) longest.push_back(lag * scale);
    for (std::size_t round = 0; round <= lags_.size(); ++round) {
      bool changed = false;
      for (const Edge& e : edges_) {
        const std::int64_t least = longest[static_cast<std::size_t>(e.from)] + 1 - e.distance * scale;
        std::int64_t& to = longest[static_cast<std::size_t>(e.to)];
        if (to >= least) continue;
        to = least;
        changed = true;
      }
      if (!changed) return false;
    }
    return true;
  }

  const ProjectedProgram& p_;
  bool in_loop_;
  std::vector<std::int64_t> lags_;
  std::vector<std::int32_t> sends_, receives_;
  std::vector<Edge> edges_;
};

}  // namespace

void verify_waits(const ProjectedProgram& p, std::vector<Violation>& found) {
  std::int64_t most = 1;
  for (const Stream& s : p.streams) most = std::max(most, s.capacity);
  for (auto section : {&DeviceProgram::before, &DeviceProgram::loop, &DeviceProgram::update}) {
    const bool in_loop = section == &DeviceProgram::loop;
    if (!Waits(p, in_loop).may_wait_for_ever(section)) continue;
    Violation v{"C5-deadlock", p.devices[0].device, -1, {}, "devices wait for one another in a circle"};
    Silence domain{*p.module};
    MachineOptions options;
    options.samples = (p.policy.windowed() ? p.policy.window : 1) * (most + p.drain + 2);
    try {
      Machine<Silence>(p, domain, options).run();
    } catch (const Deadlock& e) {
      v.device = e.waiting[0].device;
      v.trip = e.waiting[0].trip;
      v.value = p.streams[e.waiting[0].stream].name;
      v.message = describe(p, e.waiting);
    }
    found.push_back(std::move(v));
    return;
  }
}

}  // namespace pando::project
