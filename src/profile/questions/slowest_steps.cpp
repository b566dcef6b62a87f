#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_slowest_steps(const Report& report, const Query& query) {
  std::vector<const StepCycles*> order;
  for (const StepCycles& s : report.steps) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->cycles.total() - a->cycles.wait > b->cycles.total() - b->cycles.wait; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const StepCycles& s = *order[i];
    rows.push_back({{"cycles", s.cycles.total() - s.cycles.wait},
                    {"executions", s.executions},
                    {"kind", s.kind},
                    {"order", s.order},
                    {"balance", s.tile_balance},
                    {"slowest_tile", s.slowest_tile},
                    {"slowest_vertex", s.slowest_codelet},
                    {"stream", s.stream},
                    {"name", s.name},
                    {"source", sources_text(report, sources_of(report, s))}});
  }
  return {{"total_cycles", report.total_cycles}, {"rows", std::move(rows)}};
}

}  // namespace

extern const QuestionRow question_slowest_steps;
constinit const QuestionRow question_slowest_steps = {"slowest_steps", "", "the steps that cost most cycles", answer_slowest_steps};

}  // namespace pando::profile
