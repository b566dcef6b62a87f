#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

// Of a run on several devices, or a plan: when each computes and transfers, and how much of the time is bubbles. Times in microseconds.
Json answer_schedule(const Report& report, const Query& query) {
  const DevicePlan& p = report.plan;
  std::vector<double> host_end(p.devices.size(), 0), peak(p.devices.size(), 0);
  double computing = 0;
  bool has_host = false;
  for (const PlanEvent& e : p.events) {
    host_end[e.device] = std::max(host_end[e.device], e.host_begin + e.host_seconds);
    peak[e.device] = std::max(peak[e.device], e.bytes);
    has_host |= e.host_seconds > 0;
  }
  Json rows = Json::array();
  for (std::size_t d = 0; d < p.devices.size(); ++d) {
    const PlanDevice& x = p.devices[d];
    computing += x.computing;
    if (rows.size() == query.top) continue;
    Json row{{"device", x.name}, {"computing_us", 1e6 * x.computing}, {"transferring_us", 1e6 * x.transferring}, {"end_us", 1e6 * x.end}};
    row["bubbles"] = p.seconds > 0 ? std::max(0.0, 1 - x.computing / p.seconds) : 0.0;
    if (peak[d] > 0) row["peak_bytes"] = static_cast<std::uint64_t>(peak[d]);
    if (has_host) row["host_end_us"] = 1e6 * host_end[d];
    rows.push_back(std::move(row));
  }
  const double all = p.seconds * static_cast<double>(p.devices.size());
  Json out{{"plan", p.title},
           {"step_us", 1e6 * p.seconds},
           {"events", p.events.size() + p.events_lost},
           {"bubbles", all > 0 ? std::max(0.0, 1 - computing / all) : 0.0},
           {"rows", std::move(rows)}};
  if (p.devices.empty()) out["why_none"] = no_devices_text(report);
  return cut_rows(std::move(out), p.devices.size());
}

}  // namespace

extern const QuestionRow question_schedule;
constinit const QuestionRow question_schedule = {
    "schedule", "", "of several devices: when each computes and transfers, and the share of the time that is bubbles", answer_schedule};

}  // namespace pando::profile
