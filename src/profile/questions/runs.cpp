#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_runs(const Report& report, const Query& query) {
  Json rows = Json::array();
  const bool has_names = std::ranges::any_of(report.run_times, [](const RunTimes& r) { return !r.name.empty(); });
  for (std::size_t i = 0; i < std::min(report.run_times.size(), query.top); ++i) {
    const RunTimes& r = report.run_times[i];
    const double modelled = report.target.clock_hz > 0 ? static_cast<double>(r.end - r.begin) / report.target.clock_hz : 0;
    rows.push_back({{"run", i},
                    {"program", r.program},
                    {"begin", r.begin},
                    {"end", r.end},
                    {"machine_us", modelled * 1e6},
                    {"host_us", static_cast<double>(r.host_ns) / 1e3}});
    if (has_names) rows.back()["name"] = r.name;
  }
  return cut_rows({{"runs", report.runs}, {"rows", std::move(rows)}}, report.run_times.size());
}

}  // namespace

extern const QuestionRow question_runs;
constinit const QuestionRow question_runs = {"runs", "", "runs of the engine: cycles of the machine beside the time that the host needed",
                                             answer_runs};

}  // namespace pando::profile
