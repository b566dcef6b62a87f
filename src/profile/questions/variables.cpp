#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_variables(const Report& report, const Query& query) {
  std::vector<const Resident*> order;
  for (const Resident& r : report.residents) order.push_back(&r);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const Resident& r = *order[i];
    rows.push_back({{"bytes", r.bytes},
                    {"tiles", r.tiles},
                    {"largest", r.largest},
                    {"always_live", r.always_live_bytes},
                    {"category", category_of(report, r)},
                    {"name", r.name},
                    {"source", source_text(report, r.source)}});
  }
  return cut_rows({{"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_variables;
constinit const QuestionRow question_variables = {"variables", "", "what has most memory, over all tiles", answer_variables};

}  // namespace pando::profile
