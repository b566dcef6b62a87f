#include <algorithm>
#include <nlohmann/json.hpp>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_exchange(const Report& report, const Query& query) {
  const ExchangeTraffic& e = report.exchanges[argument_number(query, "exchange", report.exchanges.size())];
  std::vector<Traffic> order = e.traffic;
  std::stable_sort(order.begin(), order.end(), [](const Traffic& a, const Traffic& b) { return a.bytes > b.bytes; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i)
    rows.push_back(
        {{"from", order[i].from * e.block}, {"to", order[i].to * e.block}, {"bytes", order[i].bytes}, {"messages", order[i].messages}});
  return cut_rows(
      {{"name", e.name}, {"bytes", e.bytes}, {"tiles_of_a_block", e.block}, {"pairs", e.traffic.size()}, {"rows", std::move(rows)}},
      order.size());
}

}  // namespace

extern const QuestionRow question_exchange;
constinit const QuestionRow question_exchange = {"exchange", "EXCHANGE",
                                                 "bytes from tile to tile of one exchange (its number in `exchanges`)", answer_exchange};

}  // namespace pando::profile
