// What a report says of several devices: where a search's points lie, when each device does what, what its memory holds, what it sends, and
// which values lie where. `pando search --report`, `pando simulate --report` and, of programs that ran, `pando run --profile` write it; the
// viewer's page "Distributed" shows it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pando::profile {

// A strategy that a search looked at.
struct PlanPoint {
  std::string strategy;
  double seconds = 0, bytes = 0;  // of a step; of the fullest device
  bool frontier = false;          // no other point beats it in both
};
struct PlanDevice {
  std::string name;
  double computing = 0, transferring = 0, end = 0;  // seconds
  std::vector<double> memory;                       // bytes at the peak, by DevicePlan::kinds
};
struct PlanEvent {
  std::uint32_t device = 0, name = 0;  // in DevicePlan::devices, DevicePlan::names
  bool transfer = false;
  double begin = 0, seconds = 0;
  std::uint32_t kind = 0;                   // in DevicePlan::event_kinds, if there are any
  double bytes = 0;                         // memory of the device in use during it; 0: not known
  double host_begin = 0, host_seconds = 0;  // by the host's clock, of what ran
};
struct PlanMessage {
  std::uint32_t from = 0, to = 0, name = 0;  // in DevicePlan::devices, DevicePlan::names
  std::uint64_t bytes = 0;
  double sent = 0, received = 0;            // when the sender begins to send; when the receiver has it
  double host_sent = 0, host_received = 0;  // by the host's clock, of what ran
};
// A value that lies on devices, or a part of it on each.
struct PlanValue {
  std::string name, kind, shape;  // "w0", "variable", "float32(64, 64)"
  double bytes = 0;               // on each of its devices
  std::vector<std::uint32_t> devices;
};

struct DevicePlan {
  std::string title;    // "gpt3-13b on 16 devices of h100"; empty: the report has no plan
  std::string machine;  // "h100"
  std::string text;     // lines: the strategies found, the certificate, what the space leaves out
  std::string why_not;  // lines: why a strategy that was asked about is not the answer
  double seconds = 0, memory_limit = 0;
  std::vector<PlanPoint> points;   // the best first
  std::vector<std::string> kinds;  // of memory
  std::vector<PlanDevice> devices;
  std::vector<std::string> names;  // of events
  std::vector<PlanEvent> events;   // the first ones: `events_lost` counts the others
  std::uint64_t events_lost = 0;
  std::vector<std::string> event_kinds;  // "forward", "send" ...; empty: events have names alone
  std::vector<PlanMessage> messages;     // the first ones
  std::uint64_t messages_lost = 0;
  std::vector<PlanValue> values;  // the largest first
};

// Most events that a report keeps of a plan.
inline constexpr std::size_t kMostPlanEvents = 200'000;
// Adds an event or a message, or counts it as lost.
void add_event(DevicePlan& plan, const PlanEvent& event);
void add_message(DevicePlan& plan, const PlanMessage& message);

// Numbers of the names of a plan's events and messages.
class PlanNames {
 public:
  explicit PlanNames(DevicePlan& plan) : plan_(plan) {}
  std::uint32_t operator()(const std::string& name) {
    const auto [it, added] = ids_.emplace(name, static_cast<std::uint32_t>(plan_.names.size()));
    if (added) plan_.names.push_back(name);
    return it->second;
  }

 private:
  DevicePlan& plan_;
  std::map<std::string, std::uint32_t> ids_;
};

// The document `plan` of a report file.
std::string plan_json(const DevicePlan& plan);
// Throws parse_error: what is damaged.
DevicePlan plan_of_json(std::string_view json);

}  // namespace pando::profile
