#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_exchanges(const Report& report, const Query& query) {
  std::vector<std::size_t> order(report.exchanges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return report.exchanges[a].bytes > report.exchanges[b].bytes; });
  std::vector<std::vector<std::uint32_t>> sources(report.exchanges.size());
  for (const ProgramStep& s : report.program)
    if (s.exchange > 0 && s.exchange <= sources.size() && sources[s.exchange - 1].empty()) sources[s.exchange - 1] = sources_of(s);
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const ExchangeTraffic& e = report.exchanges[order[i]];
    std::uint64_t messages = 0;
    for (const Traffic& t : e.traffic) messages += t.messages;
    rows.push_back({{"exchange", order[i]},
                    {"bytes", e.bytes},
                    {"messages", messages},
                    {"senders", e.senders},
                    {"receivers", e.receivers},
                    {"busiest_tile", e.busiest_tile},
                    {"busiest_bytes", e.busiest_bytes},
                    {"local_bytes", e.local_bytes},
                    {"copies", e.copies},
                    {"name", e.name},
                    {"source", sources_text(report, sources[order[i]])}});
  }
  return cut_rows({{"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_exchanges;
constinit const QuestionRow question_exchanges = {"exchanges", "", "exchanges by bytes, each with its busiest tile", answer_exchanges};

}  // namespace pando::profile
