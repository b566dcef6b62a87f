#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

// Of a search: its points, the quickest first. Of a step that was simulated: its devices.
Json answer_plan(const Report& report, const Query& query) {
  const DevicePlan& p = report.plan;
  if (p.title.empty()) return {{"why_none", no_devices_text(report)}, {"rows", Json::array()}};
  Json out{{"plan", p.title}, {"machine", p.machine}, {"seconds", p.seconds}, {"memory_limit", p.memory_limit}};
  if (!p.why_not.empty()) out["why_not"] = p.why_not;
  Json rows = Json::array();
  for (const PlanPoint& x : p.points) {
    if (rows.size() == query.top) break;
    rows.push_back({{"strategy", x.strategy}, {"seconds", x.seconds}, {"bytes", x.bytes}, {"frontier", x.frontier}});
  }
  for (const PlanDevice& d : p.devices) {
    if (!p.points.empty() || rows.size() == query.top) break;
    double bytes = 0;
    for (const double m : d.memory) bytes += m;
    rows.push_back(
        {{"device", d.name}, {"computing", d.computing}, {"transferring", d.transferring}, {"end", d.end}, {"peak_bytes", bytes}});
  }
  out["rows"] = std::move(rows);
  return cut_rows(std::move(out), p.points.empty() ? p.devices.size() : p.points.size());
}

}  // namespace

extern const QuestionRow question_plan;
constinit const QuestionRow question_plan = {"plan", "", "a search's points, or the devices of a step that was simulated", answer_plan};

}  // namespace pando::profile
