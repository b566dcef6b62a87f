#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"
#include "profile/ranking.h"

namespace pando::profile {

namespace {

Json answer_imbalance(const Report& report, const Query& query) {
  // Of steps that do not compute 0, of the others at least 1.
  std::size_t all = 0;
  const auto rank = [](const StepCycles& s) { return s.cycles.compute > 0 ? lost_to_imbalance(s) + 1 : 0; };
  const auto counted = [&](const StepCycles& s) {
    all += s.cycles.compute > 0;
    return rank(s);
  };
  Json rows = Json::array();
  for (const std::size_t i : greatest(report.steps, query.top, counted)) {
    const StepCycles& s = report.steps[i];
    if (rank(s) == 0) break;
    rows.push_back({{"lost_cycles", lost_to_imbalance(s)},
                    {"balance", s.tile_balance},
                    {"executions", s.executions},
                    {"slowest_tile", s.slowest_tile},
                    {"slowest_vertex", s.slowest_codelet},
                    {"vertex_cycles", s.slowest_cycles},
                    {"used_workers", s.used_workers},
                    {"name", s.name},
                    {"source", sources_text(report, sources_of(report, s))}});
  }
  return cut_rows({{"total_cycles", report.total_cycles}, {"rows", std::move(rows)}}, all);
}

}  // namespace

extern const QuestionRow question_imbalance;
constinit const QuestionRow question_imbalance = {
    "imbalance", "", "compute steps by the cycles in which the mean tile waits for the slowest one", answer_imbalance};

}  // namespace pando::profile
