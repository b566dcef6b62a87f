#include <nlohmann/json.hpp>

#include "profile/advice.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_advice(const Report& report, const Query& query) {
  Json rows = Json::array();
  for (const Finding& f : advise(report)) {
    if (rows.size() == query.top) break;
    rows.push_back({{"cost", f.cost}, {"unit", f.unit}, {"rule", f.rule}, {"title", f.title}, {"text", f.text}});
  }
  return {{"rows", std::move(rows)}};
}

}  // namespace

extern const QuestionRow question_advice;
constinit const QuestionRow question_advice = {"advice", "", "what the rules of advice find, worst first", answer_advice};

}  // namespace pando::profile
