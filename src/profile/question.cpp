#include "profile/question.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/error.h"
#include "base/text/counted.h"
#include "profile/text.h"

namespace pando::profile {

#define X(stem) extern const QuestionRow question_##stem;
#include "question_manifest.inc"
#undef X

namespace {

#define X(stem) &question_##stem,
constexpr const QuestionRow* kQuestions[] = {
#include "question_manifest.inc"
};
#undef X

// The member that says how many rows a list leaves out.
std::string more_of(const std::string& list) { return list == "rows" ? "more" : list + "_more"; }

constexpr std::size_t kWidest = 64;  // of a column

std::string cell_text(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return count_text(value.get<std::uint64_t>());
  if (value.is_number_float()) return fmt::format("{:.3f}", value.get<double>());
  if (value.is_object() || value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return value.dump();
}

// Rows have the same members; those of the first name the columns.
std::string table_text(const Json& rows) {
  std::vector<std::string> names;
  for (const auto& [name, value] : rows[0].items()) names.push_back(name);
  std::vector<std::size_t> widths;
  for (const std::string& n : names) widths.push_back(n.size());
  std::vector<std::vector<std::string>> cells;
  for (const Json& row : rows) {
    auto& line = cells.emplace_back();
    for (std::size_t c = 0; c < names.size(); ++c) {
      line.push_back(cut(cell_text(row.value(names[c], Json())), kWidest));
      widths[c] = std::max(widths[c], display_width(line.back()));
    }
  }
  std::string out;
  const auto add = [&](const std::vector<std::string>& line, bool is_head) {
    std::string text;
    for (std::size_t c = 0; c < names.size(); ++c) {
      const bool number = rows[0].value(names[c], Json()).is_number();
      text += fmt::format("{}{}", c == 0 ? "  " : "  ", number ? right(line[c], widths[c]) : left(line[c], widths[c]));
    }
    static_cast<void>(is_head);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  };
  add(names, true);
  for (const auto& line : cells) add(line, false);
  return out;
}

}  // namespace

Json cut_rows(Json answer, std::size_t all, const std::string& rows) {
  const std::size_t shown = answer[rows].size();
  if (all > shown) answer[more_of(rows)] = all - shown;
  return answer;
}

std::span<const QuestionRow* const> questions() { return kQuestions; }

Json ask(const Report& report, const std::string& query, std::size_t top) {
  const std::size_t equals = query.find('=');
  const std::string name = query.substr(0, equals);
  const auto it = std::find_if(std::begin(kQuestions), std::end(kQuestions), [&](const QuestionRow* q) { return q->name == name; });
  if (it == std::end(kQuestions)) {
    std::vector<std::string> names;
    for (const QuestionRow* q : kQuestions) names.emplace_back(q->name);
    fail(ErrorKind::invalid_option, "report-question", "a report does not answer '{}'{}; expected {}", name, nearest_text(name, names),
         fmt::join(names, ", "));
  }
  const Query asked{equals == std::string::npos ? std::string() : query.substr(equals + 1), top};
  if ((*it)->argument.empty() && !asked.argument.empty())
    fail(ErrorKind::invalid_option, "report-question", "'{}' has no argument, found '{}'", name, asked.argument);
  Json out{{"question", query}};
  out.update((*it)->answer(report, asked));
  return out;
}

std::uint64_t argument_number(const Query& query, std::string_view what, std::uint64_t limit) {
  std::uint64_t value = 0;
  const char *begin = query.argument.data(), *end = begin + query.argument.size();
  const auto [rest, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || rest != end)
    fail(ErrorKind::invalid_option, "report-argument", "expected the number of a {}, found '{}'", what, query.argument);
  if (value >= limit)
    fail(ErrorKind::invalid_option, "report-argument", "there is no {} {}; the report has {}{}", what, value, counted(limit, what),
         limit > 0 ? ", numbered from 0" : "");
  return value;
}

std::string answer_text(const Json& answer) {
  std::string out;
  std::size_t width = 0;
  std::vector<std::string> apart{"question"};  // they are no facts
  for (const auto& [name, value] : answer.items())
    if (value.is_array()) apart.insert(apart.end(), {name, more_of(name)});
  const auto is_fact = [&](const std::string& name) { return std::find(apart.begin(), apart.end(), name) == apart.end(); };
  for (const auto& [name, value] : answer.items())
    if (is_fact(name)) width = std::max(width, name.size());
  for (const auto& [name, value] : answer.items()) {
    if (!is_fact(name)) continue;
    out += fmt::format("{}  {}\n", left(name, width), cell_text(value));
  }
  for (const auto& [name, value] : answer.items()) {
    if (!value.is_array()) continue;
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", name == "rows" ? answer.value("question", name) : name);
    if (value.empty())
      out += "  none\n";
    else if (value[0].is_object())
      out += table_text(value);
    else
      for (const Json& v : value) out += "  " + cell_text(v) + "\n";
    if (const auto more = answer.value(more_of(name), std::uint64_t{0}); more > 0)
      out += fmt::format("  … and {} more (--top {} gives all)\n", count_text(more), value.size() + more);
  }
  return out;
}

}  // namespace pando::profile
