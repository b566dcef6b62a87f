#include "transform/distribute/strategy_text.h"

#include "base/error.h"
#include "transform/distribute/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

namespace pando::transform {

#define X(name) AxisRow axis_##name();
#include "strategy_axis_manifest.inc"
#undef X

const std::vector<AxisRow>& axis_rows() {
  static const std::vector<AxisRow> all = [] {
    std::vector<AxisRow> rows = {
#define X(name) axis_##name(),
#include "strategy_axis_manifest.inc"
#undef X
    };
    std::ranges::sort(rows, {}, &AxisRow::position);
    return rows;
  }();
  return all;
}

bool AxisRow::is_named(std::string_view name) const { return word == name || std::ranges::find(aliases, name) != aliases.end(); }

const AxisRow* find_axis(std::string_view word) {
  const auto found = std::ranges::find_if(axis_rows(), [&](const AxisRow& row) { return row.is_named(word); });
  return found == axis_rows().end() ? nullptr : &*found;
}

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(at), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

void refuse_value(std::string_view word, std::string_view value, std::string_view expected) {
  fail(ErrorKind::poplar_error, "strategy-value", "'{}={}': {} is expected", word, value, expected);
}

namespace {

std::int32_t whole_number(std::string_view word, std::string_view value) {
  std::int32_t n = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 0 || n > 1'000'000) refuse_value(word, value, "a number");
  return n;
}

bool is_chosen(const AxisRow& row, const Strategy& s) { return row.flag != nullptr && s.*row.flag; }

// Empty: as it is anyhow.
std::string value_of(const AxisRow& row, const Strategy& s) {
  if (row.number != nullptr) return s.*row.number == row.otherwise ? "" : std::to_string(s.*row.number);
  if (row.numbers != nullptr) return fmt::format("{}", fmt::join(s.*row.numbers, "/"));
  return row.write != nullptr ? row.write(s) : "";
}

void read_value(const AxisRow& row, std::string_view word, std::string_view value, Strategy& s) {
  if (row.number != nullptr) {
    const std::int32_t n = whole_number(word, value);
    if (row.least > 0 && n < row.least) refuse_value(word, value, fmt::format("a number of {} or more", row.least));
    s.*row.number = n;
  } else if (row.numbers != nullptr) {
    (s.*row.numbers).clear();
    for (std::string_view n : split(value, "/")) (s.*row.numbers).push_back(static_cast<std::uint32_t>(whole_number(word, n)));
  } else if (row.flag != nullptr) {
    s.*row.flag = true;
  } else {
    row.read(s, word, value);
  }
}

void copy_value(const AxisRow& row, const Strategy& from, Strategy& to) {
  if (row.number != nullptr) {
    to.*row.number = from.*row.number;
  } else if (row.numbers != nullptr) {
    to.*row.numbers = from.*row.numbers;
  } else if (row.flag != nullptr) {
    to.*row.flag = from.*row.flag;
  } else {
    row.copy(from, to);
  }
}

[[noreturn]] void refuse_word(std::string_view word) {
  std::vector<std::string_view> known;
  for (const AxisRow& row : axis_rows()) known.push_back(row.word);
  fail(ErrorKind::poplar_error, "strategy-word", "'{}' is no word of a strategy; these are: {}", word, fmt::join(known, ", "));
}

}  // namespace

void add_choices(const AxisRow& row, const SpaceFacts& facts, const Strategy& s, const Strategy* demanded, std::vector<Strategy>& to) {
  if (row.is_open != nullptr && !row.is_open(s)) return to.push_back(s);
  const std::size_t before = to.size();
  if (demanded != nullptr && row.on_demand) {
    copy_value(row, *demanded, to.emplace_back(s));
  } else if (row.numbers_of_space != nullptr) {
    for (const std::int32_t n : row.numbers_of_space(facts, s)) {
      if (demanded == nullptr || demanded->*row.number == n) to.emplace_back(s).*row.number = n;
    }
  } else {
    row.choices(facts, s, to);
  }
  if (row.is_possible == nullptr) return;
  to.erase(std::remove_if(to.begin() + static_cast<std::ptrdiff_t>(before), to.end(),
                          [&](const Strategy& with) { return !row.is_possible(facts, with); }),
           to.end());
}

std::vector<std::int32_t> divisors(std::int64_t n, std::int64_t most) {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 1; i <= std::min(n, most); ++i) {
    if (n % i == 0) all.push_back(static_cast<std::int32_t>(i));
  }
  return all;
}

std::string to_string(const Strategy& s) {
  std::string text;
  for (const AxisRow& row : axis_rows()) {
    const std::string value = value_of(row, s);
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", row.word, value);
    if (is_chosen(row, s)) text += fmt::format("{}{}", text.empty() ? "" : " ", row.word);
  }
  return text.empty() ? "data=1" : text;
}

std::string to_options(const Strategy& s) {
  std::string text;
  for (const AxisRow& row : axis_rows()) {
    std::string value = value_of(row, s);
    if (value.empty() && !is_chosen(row, s)) continue;
    const char between = row.numbers != nullptr ? '/' : row.between;
    if (between != '\0') std::ranges::replace(value, between, ',');
    // Names may have a star, which is the shell's, too.
    if (between == ';') value = '\'' + value + '\'';
    const std::string_view option = row.option_of != nullptr ? row.option_of(s) : row.option.empty() ? row.word : row.option;
    text += fmt::format("{}--{}{}{}", text.empty() ? "" : " ", option, value.empty() ? "" : " ", value);
  }
  return text;
}

schedule::Table table_from(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(ErrorKind::poplar_error, "strategy-value", "'schedule={}': the file cannot be read", file);
  std::stringstream text;
  text << in.rdbuf();
  return schedule::read_csv(text.str(), file);
}

Strategy parse_words(std::string_view text, Strategy s) {
  for (std::string_view item : split(text, " ,")) {
    const std::size_t equal = std::min(item.find('='), item.size());
    const std::string_view word = item.substr(0, equal), value = item.substr(std::min(equal + 1, item.size()));
    const AxisRow* row = find_axis(word);
    if (row == nullptr || (row->flag != nullptr && !value.empty())) refuse_word(word);
    read_value(*row, word, value, s);
  }
  return s;
}

}  // namespace pando::transform
