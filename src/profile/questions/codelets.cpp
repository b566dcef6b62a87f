#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_codelets(const Report& report, const Query& query) {
  std::vector<const CodeletCycles*> order;
  for (const CodeletCycles& c : report.codelets) order.push_back(&c);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->cycles > b->cycles; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i)
    rows.push_back({{"cycles", order[i]->cycles},
                    {"executions", order[i]->instances},
                    {"flops", order[i]->flops},
                    {"operand_bytes", order[i]->operand_bytes},
                    {"estimated", order[i]->estimated},
                    {"source", order[i]->source},
                    {"codelet", order[i]->codelet},
                    {"defined", defined_text(report, order[i]->codelet)}});
  return cut_rows({{"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_codelets;
constinit const QuestionRow question_codelets = {"codelets", "", "cycles of the vertices themselves, by codelet", answer_codelets};

}  // namespace pando::profile
