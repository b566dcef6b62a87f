#include <nlohmann/json.hpp>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_advice(const Report& report, const Query& query) {
  Json rows = Json::array();
  const std::vector<Finding> findings = advise(report);
  for (const Finding& f : findings) {
    if (rows.size() == query.top) break;
    rows.push_back({{"cost", f.cost}, {"unit", f.unit}, {"rule", f.rule}, {"title", f.title}, {"text", f.text}});
  }
  return cut_rows({{"rows", std::move(rows)}}, findings.size());
}

}  // namespace

extern const QuestionRow question_advice;
constinit const QuestionRow question_advice = {"advice", "", "what the rules of advice find, worst first", answer_advice};

}  // namespace pando::profile
