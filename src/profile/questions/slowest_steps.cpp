#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"
#include "profile/ranking.h"

namespace pando::profile {

namespace {

Json answer_slowest_steps(const Report& report, const Query& query) {
  Json rows = Json::array();
  for (const std::size_t i : greatest(report.steps, query.top, [](const StepCycles& s) { return s.cycles.total() - s.cycles.wait; })) {
    const StepCycles& s = report.steps[i];
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
  return cut_rows({{"total_cycles", report.total_cycles}, {"rows", std::move(rows)}}, report.steps.size());
}

}  // namespace

extern const QuestionRow question_slowest_steps;
constinit const QuestionRow question_slowest_steps = {"slowest_steps", "", "the steps that cost most cycles", answer_slowest_steps};

}  // namespace pando::profile
