#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

struct Sum {
  std::uint64_t messages = 0, bytes = 0;
  double waited = 0;  // from the beginning of the send to the end of the receive
};

// By sender, receiver and value; the most bytes first.
Json answer_messages(const Report& report, const Query& query) {
  const DevicePlan& p = report.plan;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Sum> sums;
  std::uint64_t bytes = 0;
  for (const PlanMessage& m : p.messages) {
    Sum& s = sums[{m.from, m.to, m.name}];
    ++s.messages, s.bytes += m.bytes, s.waited += m.received - m.sent;
    bytes += m.bytes;
  }
  std::vector<std::pair<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(sorted.size(), query.top); ++i) {
    const auto& [key, s] = sorted[i];
    rows.push_back({{"value", p.names[std::get<2>(key)]},
                    {"from", p.devices[std::get<0>(key)].name},
                    {"to", p.devices[std::get<1>(key)].name},
                    {"messages", s.messages},
                    {"bytes", s.bytes},
                    {"us_each", 1e6 * s.waited / static_cast<double>(s.messages)}});
  }
  Json out{{"messages", p.messages.size() + p.messages_lost}, {"bytes", bytes}, {"rows", std::move(rows)}};
  if (p.devices.empty()) out["why_none"] = no_devices_text(report);
  return cut_rows(std::move(out), sorted.size());
}

}  // namespace

extern const QuestionRow question_messages;
constinit const QuestionRow question_messages = {"messages", "", "of several devices: what they send each other in a step, by value",
                                                 answer_messages};

}  // namespace pando::profile
