#include "search/strategy.h"

#include "base/error.h"
#include "search/axis.h"
#include "transform/distribute/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace pando::search {

#define X(name) Axis axis_##name();
#include "axis_manifest.inc"
#undef X

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all = [] {
    std::vector<Axis> rows = {
#define X(name) axis_##name(),
#include "axis_manifest.inc"
#undef X
    };
    std::ranges::sort(rows, {}, &Axis::nesting);
    return rows;
  }();
  return all;
}

const std::vector<const Axis*>& axes_of_text() {
  static const std::vector<const Axis*> all = [] {
    std::vector<const Axis*> rows;
    for (const Axis& a : axes()) rows.push_back(&a);
    std::ranges::stable_sort(rows, {}, &Axis::position);
    return rows;
  }();
  return all;
}

void add_divisors(std::int64_t n, Values& to) {
  Values large;
  for (std::int64_t i = 1; i <= n / i; ++i) {
    if (n % i != 0) continue;
    to.push_back(i);
    if (i != n / i) large.push_back(n / i);
  }
  to.insert(to.end(), large.rbegin(), large.rend());
}

std::string_view name_of(Recompute r) { return axis_named("recompute").names[static_cast<std::size_t>(r)]; }
std::string_view name_of(Precision p) { return axis_named("precision").names[static_cast<std::size_t>(p)]; }
std::string_view name_of(PipelineSchedule s) { return kSchedules[static_cast<std::size_t>(s)]; }

PipelineSchedule schedule_of(const Strategy& s) {
  const auto found = std::ranges::find(kSchedules, s.schedule);
  return static_cast<PipelineSchedule>(found == kSchedules.end() ? 0 : found - kSchedules.begin());
}

// --- texts ------------------------------------------------------------------------------------------------------------------------------

namespace {

std::string value_text(const Axis& a, std::int64_t value) {
  return a.names.empty() ? std::to_string(value) : std::string(a.names[static_cast<std::size_t>(value)]);
}

std::int64_t value_of(const Axis& a, std::string_view text, std::string_view word) {
  if (a.names.empty()) {
    std::int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < -1)
      fail(ErrorKind::poplar_error, "strategy-text", "{}={}: a whole number is expected", word, text);
    return n;
  }
  for (std::size_t i = 0; i < a.names.size(); ++i) {
    if (a.names[i] == text || (i < a.old_names.size() && a.old_names[i] == text)) return static_cast<std::int64_t>(i);
  }
  fail(ErrorKind::poplar_error, "strategy-text", "{}={}: it is one of {}", word, text, fmt::join(a.names, ", "));
}

// Those of one word, in the order of their values.
std::vector<const Axis*> axes_with(std::string_view word) {
  std::vector<const Axis*> all;
  for (const Axis* a : axes_of_text()) {
    if (a->word == word || std::ranges::find(a->aliases, word) != a->aliases.end()) all.push_back(a);
  }
  return all;
}

void read_word(Strategy& s, std::string_view word, std::string_view value, bool has_value, std::string_view item) {
  const std::vector<const Axis*> rows = axes_with(word);
  if (rows.empty() || rows[0]->flag == has_value) {
    std::vector<std::string> known;
    for (const Axis* a : axes_of_text()) {
      const std::string text = a->flag ? std::string(a->word) : fmt::format("{}=", a->word);
      if (known.empty() || known.back() != text) known.push_back(text);
    }
    if (!rows.empty())
      fail(ErrorKind::poplar_error, "strategy-text", "'{}': {} is expected", item,
           rows[0]->flag ? std::string(word) : fmt::format("{}=VALUE", word));
    fail(ErrorKind::poplar_error, "strategy-text", "'{}' is no word of a strategy: {} are known", item, fmt::join(known, " "));
  }
  if (rows[0]->flag) return rows[0]->set(s, 1);
  const std::vector<std::string_view> parts = rows.size() == 1 ? std::vector{value} : transform::split(value, "/");
  if (parts.size() != rows.size())
    fail(ErrorKind::poplar_error, "strategy-text", "{}={}: {} numbers are expected, as {}", word, value, rows.size(),
         fmt::join(std::vector<int>(rows.size(), 0), "/"));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->set(s, value_of(*rows[i], parts[i], word));
}

}  // namespace

const Axis& axis_named(std::string_view word) { return *axes_with(word).at(0); }

std::string text_of(const Axis& a, std::int64_t value) { return fmt::format("{}{}", a.word, a.flag ? "" : "=" + value_text(a, value)); }

std::string words_of(const Strategy& s) {
  std::string text;
  const std::vector<const Axis*>& rows = axes_of_text();
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i;
    bool said = false;
    std::string values;
    for (; end < rows.size() && rows[end]->word == rows[i]->word; ++end) {
      const std::int64_t value = rows[end]->get(s);
      said |= rows[end]->always || value != rows[end]->otherwise;
      values += (end > i ? "/" : "") + value_text(*rows[end], value);
    }
    if (said) text += fmt::format("{}{}{}", text.empty() ? "" : " ", rows[i]->word, rows[i]->flag ? "" : "=" + values);
    i = end;
  }
  return text;
}

Strategy parse_strategy(std::string_view text) {
  Strategy s;
  std::set<const Axis*> said;
  for (const std::string_view item : transform::split(text, " ,")) {
    const std::size_t equals = item.find('=');
    const std::string_view word = item.substr(0, equals);
    const std::vector<const Axis*> rows = axes_with(word);
    if (!rows.empty() && !said.insert(rows[0]).second) fail(ErrorKind::poplar_error, "strategy-text", "'{}' is said twice", word);
    const bool has_value = equals != std::string_view::npos;
    read_word(s, word, has_value ? item.substr(equals + 1) : std::string_view(), has_value, item);
  }
  return s;
}

// --- rules ------------------------------------------------------------------------------------------------------------------------------

namespace {

Violation network_violation(const simulate::Cluster& c, const Strategy& s) {
  const auto no = [](std::string rule, std::string message) { return Violation{std::move(rule), std::move(message)}; };
  if (c.levels.empty() && s.devices() > 1) return no("network", "the machine has no network");
  if (s.tensor_level < 0) {
    if (!c.levels.empty() && s.devices() > c.levels.back().devices) {
      return no("network", fmt::format("{} devices; the machine has {}", s.devices(), c.levels.back().devices));
    }
    return {};
  }
  std::vector<std::int64_t> size(c.levels.size(), 1);
  const auto use = [&](std::int8_t level, std::int64_t degree) {
    if (degree > 1 && level >= 0 && static_cast<std::size_t>(level) < size.size()) size[static_cast<std::size_t>(level)] *= degree;
    return level >= 0 && static_cast<std::size_t>(level) < size.size();
  };
  if (!use(s.tensor_level, std::int64_t{s.tensor} * s.context) || !use(s.pipeline_level, s.pipeline) || !use(s.data_level, s.data)) {
    return no("network", "there is no such level");
  }
  for (std::size_t l = 0; l < size.size(); ++l) {
    if (size[l] > c.levels[l].devices) {
      return no("network", fmt::format("{} devices on level {} ({}), which joins {}", size[l], l, c.levels[l].name, c.levels[l].devices));
    }
    if (l + 1 < size.size() && c.levels[l].devices % size[l] != 0) {
      return no("network", fmt::format("{} devices do not fill units of {} on level {}", size[l], c.levels[l].devices, l));
    }
  }
  return {};
}

}  // namespace

Violation first_violation(const StrategyFacts& facts, const Strategy& s) {
  for (const Axis& a : axes()) {
    if (a.rule == nullptr) continue;
    if (Violation v = a.rule(facts, s)) return v;
  }
  return network_violation(facts.cluster, s);
}

}  // namespace pando::search
