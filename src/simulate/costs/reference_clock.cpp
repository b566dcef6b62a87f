#include "simulate/simulate.h"
#include "simulate/traces/chrome.h"

#include <fmt/format.h>

#include <sstream>

#include <algorithm>

namespace pando::simulate {

namespace {

class ReferenceClock {
 public:
  ReferenceClock(const Program& program, bool record)
      : program_(program), record_(record), clocks_(static_cast<std::size_t>(program.devices()), 0), busy_(clocks_.size()) {}

  Timeline run() {
    Timeline t;
    if (!program_.bodies.empty()) {
      std::vector<std::int32_t> map;
      for (const BodyDevice& d : program_.bodies.front().devices) map.push_back(d.number);
      run_body(program_.bodies.front(), map);
    }
    for (std::size_t d = 0; d < clocks_.size(); ++d) {
      busy_[d].end = clocks_[d];
      t.seconds = std::max(t.seconds, clocks_[d]);
    }
    t.devices = std::move(busy_);
    t.events = std::move(events_);
    t.messages = std::move(messages_);
    t.steps_run = t.steps_covered = steps_;
    return t;
  }

 private:
  void run_body(const Body& b, const std::vector<std::int32_t>& map) {
    for (const Step& s : b.steps) {
      const auto devices = b.devices_of(s);
      if (s.kind == StepKind::call) {
        std::vector<std::int32_t> inner;
        for (std::uint32_t d : devices) inner.push_back(map[d]);
        for (std::int64_t t = 0; t < s.trips; ++t) run_body(program_.bodies[s.body], inner);
        continue;
      }
      ++steps_;
      double start = 0;
      for (std::uint32_t d : devices) start = std::max(start, clocks_[static_cast<std::size_t>(map[d])]);
      for (std::uint32_t d : devices) {
        const auto device = static_cast<std::size_t>(map[d]);
        clocks_[device] = start + s.seconds;
        (s.kind == StepKind::transfer ? busy_[device].transferring : busy_[device].computing) += s.seconds;
        if (record_) events_.push_back({s.label, map[d], s.kind == StepKind::transfer, start, s.seconds});
      }
      if (record_) add_messages(b, s, map, start, start + s.seconds, messages_);
    }
  }

  const Program& program_;
  bool record_;
  std::vector<double> clocks_;
  std::vector<DeviceTimes> busy_;
  std::vector<Event> events_;
  std::vector<Message> messages_;
  std::int64_t steps_ = 0;
};

}  // namespace

Timeline run_reference_clock(const Program& program, bool record_events) { return ReferenceClock(program, record_events).run(); }

std::string chrome_trace(const Program& program, const Timeline& timeline) {
  std::ostringstream out;
  {
    ChromeTrace trace(out);
    add_to_trace(program, timeline, trace);
  }
  return out.str();
}

void add_to_trace(const Program& program, const Timeline& timeline, ChromeTrace& trace) {
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) name_device(static_cast<std::int64_t>(d), fmt::format("device {}", d), trace);
  for (const Event& e : timeline.events)
    trace.slice({.name = program.label(e.label), .process = e.device, .thread = e.transfer ? 1 : 0}, e.start * 1e6, e.seconds * 1e6);
}

void name_device(std::int64_t process, std::string_view name, ChromeTrace& trace) {
  trace.name_process(process, name);
  trace.name_thread(process, 0, "computes");
  trace.name_thread(process, 1, "transfers");
}

}  // namespace pando::simulate
