#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_imbalance(const Report& report, const Query& query) {
  std::vector<const StepCycles*> order;
  for (const StepCycles& s : report.steps)
    if (s.cycles.compute > 0) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return lost_to_imbalance(*a) > lost_to_imbalance(*b); });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const StepCycles& s = *order[i];
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
  return {{"total_cycles", report.total_cycles}, {"rows", std::move(rows)}};
}

}  // namespace

extern const QuestionRow question_imbalance;
constinit const QuestionRow question_imbalance = {
    "imbalance", "", "compute steps by the cycles in which the mean tile waits for the slowest one", answer_imbalance};

}  // namespace pando::profile
