#include "lower/terms/settings.h"

#include "base/check.h"
#include "base/error.h"
#include "base/text/similar_names.h"
#include "ir/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace pando::lower {

#define X(name) OptionRow option_##name();
#include "lower_option_manifest.inc"
#undef X

namespace {

// By the alternatives of OptionValue.
constexpr std::string_view kKinds[] = {"true or false", "a whole number", "a text"};

std::string possible(const OptionRow& row) {
  const std::size_t n = row.choices.size();
  if (n == 0) return std::string(kKinds[row.otherwise.index()]);
  return fmt::format("{}{}{}", fmt::join(row.choices.begin(), row.choices.end() - 1, ", "), n > 1 ? " or " : "", row.choices.back());
}

bool is_possible(const OptionRow& row, const OptionValue& value) {
  const std::string* const text = std::get_if<std::string>(&value);
  return text == nullptr || text->empty() || row.choices.empty() || std::ranges::find(row.choices, *text) != row.choices.end();
}

bool parse(const OptionRow& row, const std::string& text, OptionValue& value) {
  if (std::holds_alternative<std::string>(row.otherwise)) {
    value = text;
    return is_possible(row, value);
  }
  if (std::holds_alternative<bool>(row.otherwise)) {
    value = text == "true";
    return text == "true" || text == "false";
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  value = number;
  return error == std::errc() && end == text.data() + text.size();
}

std::string shown(const OptionValue& value) {
  if (const bool* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const std::string* const text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", std::get<std::int64_t>(value));
}

}  // namespace

std::string text_name(const OptionRow& row) {
  std::string out = "pando.";
  bool capital = false;
  for (const char c : row.name) {
    if (c != '_') out += capital ? static_cast<char>(c - 'a' + 'A') : c;
    capital = c == '_';
  }
  return out;
}

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow> rows = {
#define X(name) option_##name(),
#include "lower_option_manifest.inc"
#undef X
  };
  return rows;
}

Settings::Settings(const std::vector<OptionRow>& rows) : rows_(&rows) {
  for (const OptionRow& row : rows) values_.emplace(row.name, row.otherwise);
}

const OptionValue& Settings::value_of(std::string_view name) const {
  const auto at = values_.find(name);
  PANDO_CHECK(at != values_.end());
  return at->second;
}

bool Settings::flag(std::string_view name) const { return std::get<bool>(value_of(name)); }
std::int64_t Settings::number(std::string_view name) const { return std::get<std::int64_t>(value_of(name)); }
const std::string& Settings::text(std::string_view name) const { return std::get<std::string>(value_of(name)); }

void Settings::set(std::string_view name, OptionValue value) {
  using ir::ErrorClass;
  const auto row = std::ranges::find(*rows_, name, &OptionRow::name);
  if (row == rows_->end()) {
    std::vector<std::string> names;
    for (const OptionRow& r : *rows_) names.emplace_back(r.name);
    const std::vector<std::string> near = similar_names(name, names);
    ir::reject(ErrorClass::key, "unknown-session-option", "a session has no option '{}'{}", name,
               near.empty() ? "" : fmt::format("; did you mean '{}'?", near.front()));
  }
  if (value.index() != row->otherwise.index())
    ir::reject(ErrorClass::type, "session-option-type", "the session option '{}' is {}, not {}", name, possible(*row), shown(value));
  if (!is_possible(*row, value))
    ir::reject(ErrorClass::value, "session-option-value", "the session option '{}' is {}, not '{}'", name, possible(*row), shown(value));
  values_.find(name)->second = std::move(value);
}

bool Settings::read(std::string_view name, const std::string& value) {
  for (const OptionRow& row : *rows_) {
    if (!row.from_text || text_name(row) != name) continue;
    OptionValue parsed;
    if (!parse(row, value, parsed))
      fail(ErrorKind::invalid_option, "option-value", "option '{}' is '{}'; it is {}", name, value, possible(row));
    values_.find(row.name)->second = std::move(parsed);
    return true;
  }
  return false;
}

void Settings::drop_those_of_ipus() {
  for (const OptionRow& row : *rows_)
    if (row.ipus_only) values_.find(row.name)->second = row.otherwise;
}

void Settings::check(const OptionContext& context) const {
  for (const OptionRow& row : *rows_)
    if (row.check) row.check(value_of(row.name), context);
}

std::string describe(const std::vector<OptionRow>& rows) {
  std::string out = "| option | values | otherwise | popart | effect |\n| --- | --- | --- | --- | --- |\n";
  for (const OptionRow& row : rows) {
    const std::string otherwise = shown(row.otherwise);
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} | {} |\n", row.from_text ? text_name(row) : std::string(row.name),
                   possible(row), otherwise.empty() ? "not said" : otherwise,
                   row.popart.empty() ? std::string() : fmt::format("`{}`", row.popart), row.effect);
  }
  return out;
}

}  // namespace pando::lower
