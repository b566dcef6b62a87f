// What a report says of devices without tiles: where a search's points lie, when each device does what, what its memory holds. `pando
// search --report` and `pando simulate --report` write it; the viewer's page "Plan" shows it.
#pragma once

#include <cstdint>
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
};

// Most events that a report keeps of a plan.
inline constexpr std::size_t kMostPlanEvents = 200'000;
// Adds an event, or counts it as lost.
void add_event(DevicePlan& plan, const PlanEvent& event);

// The document `plan` of a report file.
std::string plan_json(const DevicePlan& plan);
// Throws parse_error: what is damaged.
DevicePlan plan_of_json(std::string_view json);

}  // namespace pando::profile
