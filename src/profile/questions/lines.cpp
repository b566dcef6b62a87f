#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "profile/question.h"
#include "profile/text.h"

namespace pando::profile {

namespace {

std::string why_none(const CodeletCycles& c) {
  if (c.source.find("not counted") != std::string::npos) return c.source;
  if (c.source.find("counted") == std::string::npos) return "its cycles are " + (c.source.empty() ? "estimated by the program" : c.source);
  if (c.source.find("counted instructions") != std::string::npos) return "it is assembly: cycles by line are those of C++ codelets";
  return "compile it with popc -g";
}

const CodeletCycles& codelet_named(const Report& report, const std::string& name) {
  const auto at = std::find_if(report.codelets.begin(), report.codelets.end(), [&](const CodeletCycles& c) { return c.codelet == name; });
  if (at != report.codelets.end()) return *at;
  std::vector<std::string> known;
  for (const CodeletCycles& c : report.codelets) known.push_back(c.codelet);
  fail(ErrorKind::invalid_option, "report-argument", "no codelet '{}' was executed{}; the report has {}", name, nearest_text(name, known),
       known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

// The source of one codelet, in order.
Json source_of(const CodeletCycles& c) {
  Json out{{"codelet", c.codelet}, {"cycles", c.cycles}, {"executions", c.instances}, {"source", c.source}};
  if (c.lines.empty()) out["lines"] = "none: " + why_none(c);
  Json rows = Json::array();
  for (const LineCycles& l : c.lines)
    rows.push_back({{"cycles", l.cycles},
                    {"share", c.cycles == 0 ? 0.0 : static_cast<double>(l.cycles) / static_cast<double>(c.cycles)},
                    {"file", l.file},
                    {"line", l.line},
                    {"text", l.text}});
  out["rows"] = std::move(rows);
  return out;
}

// Of all codelets the lines with most cycles; which codelets have none, and why.
Json answer_lines(const Report& report, const Query& query) {
  if (!query.argument.empty()) return source_of(codelet_named(report, query.argument));
  std::vector<std::pair<const CodeletCycles*, const LineCycles*>> order;
  Json without = Json::array();
  for (const CodeletCycles& c : report.codelets) {
    for (const LineCycles& l : c.lines)
      if (l.cycles > 0) order.emplace_back(&c, &l);
    if (c.lines.empty()) without.push_back({{"codelet", c.codelet}, {"why", why_none(c)}});
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second->cycles > b.second->cycles; });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i)
    rows.push_back({{"cycles", order[i].second->cycles},
                    {"file", order[i].second->file},
                    {"line", order[i].second->line},
                    {"codelet", order[i].first->codelet},
                    {"text", order[i].second->text}});
  Json out = cut_rows({{"rows", std::move(rows)}}, order.size());
  if (!without.empty()) out["without_lines"] = std::move(without);
  return out;
}

}  // namespace

extern const QuestionRow question_lines;
constinit const QuestionRow question_lines = {"lines", "CODELET",
                                              "cycles by line of the codelets' sources (popc -g); of one codelet its source", answer_lines};

}  // namespace pando::profile
