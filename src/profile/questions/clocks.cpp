#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json clock_row(const char* clock, double seconds, double modelled, const std::string& of) {
  return {{"clock", clock}, {"us", seconds * 1e6}, {"of_modelled", modelled > 0 ? seconds / modelled : 0}, {"of", of}};
}

Json answer_clocks(const Report& report, const Query&) {
  const Clocks c = clocks_of(report);
  Json rows = Json::array();
  if (c.predicted) rows.push_back(clock_row("predicted", *c.predicted, c.modelled.value_or(0), report.predicted.title));
  if (c.modelled) rows.push_back(clock_row("modelled", *c.modelled, *c.modelled, c.of));
  if (c.host) rows.push_back(clock_row("host", *c.host, c.modelled.value_or(0), c.of));
  Json out = Json::object();
  if (!c.predicted) out["no_prediction"] = c.why_not;
  out["rows"] = std::move(rows);
  return out;
}

}  // namespace

extern const QuestionRow question_clocks;
constinit const QuestionRow question_clocks = {
    "clocks", "", "how long a step takes as it was predicted, by the machine's clock and by the host's", answer_clocks};

}  // namespace pando::profile
