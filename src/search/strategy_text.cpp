#include "search/strategy_text.h"

#include "base/error.h"
#include "base/text/similar_names.h"
#include "search/axis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

namespace pando::search {

std::vector<std::string_view> split(std::string_view text, std::string_view at) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(at), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

void reject_value(std::string_view word, std::string_view value, std::string_view expected) {
  fail(ErrorKind::poplar_error, "strategy-value", "'{}={}': {} is expected", word, value, expected);
}

namespace {

// --- values of programs -----------------------------------------------------------------------------------------------------------------

std::int32_t whole_number(std::string_view word, std::string_view value) {
  std::int32_t n = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc() || end != value.data() + value.size() || n < 0 || n > 1'000'000) reject_value(word, value, "a number");
  return n;
}

// Empty: as it is anyhow, or a word that stands alone.
std::string program_value(const ProgramAxis& a, const Strategy& s) {
  if (a.number != nullptr) return s.*a.number == a.otherwise ? "" : std::to_string(s.*a.number);
  if (a.numbers != nullptr) return fmt::format("{}", fmt::join(s.*a.numbers, "/"));
  return a.write != nullptr ? a.write(s) : "";
}

bool stands_alone(const Axis& a, Spelling spelling) { return spelling == Spelling::brief ? a.flag : a.program.flag != nullptr; }

void read_program_value(const ProgramAxis& a, Strategy& s, std::string_view word, std::string_view value) {
  if (a.number != nullptr) {
    const std::int32_t n = whole_number(word, value);
    if (a.least > 0 && n < a.least) reject_value(word, value, fmt::format("a number of {} or more", a.least));
    s.*a.number = n;
  } else if (a.numbers != nullptr) {
    (s.*a.numbers).clear();
    for (std::string_view n : split(value, "/")) (s.*a.numbers).push_back(static_cast<std::uint32_t>(whole_number(word, n)));
  } else if (a.flag != nullptr) {
    s.*a.flag = true;
  } else {
    a.read(s, word, value);
  }
}

void copy_value(const ProgramAxis& a, const Strategy& from, Strategy& to) {
  if (a.number != nullptr) {
    to.*a.number = from.*a.number;
  } else if (a.numbers != nullptr) {
    to.*a.numbers = from.*a.numbers;
  } else if (a.flag != nullptr) {
    to.*a.flag = from.*a.flag;
  } else {
    a.copy(from, to);
  }
}

// --- values of predictions --------------------------------------------------------------------------------------------------------------

std::string predicted_value(const Axis& a, std::int64_t value) {
  return a.names.empty() ? std::to_string(value) : std::string(a.names[static_cast<std::size_t>(value)]);
}

std::int64_t read_predicted_value(const Axis& a, std::string_view word, std::string_view text) {
  if (a.names.empty()) {
    std::int32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < -1) reject_value(word, text, "a whole number");
    return n;
  }
  for (std::size_t i = 0; i < a.names.size(); ++i) {
    if (a.names[i] == text || (i < a.old_names.size() && a.old_names[i] == text)) return static_cast<std::int64_t>(i);
  }
  reject_value(word, text, fmt::format("one of {}", fmt::join(a.names, ", ")));
}

// --- words ------------------------------------------------------------------------------------------------------------------------------

// Whether a text says the axis; and which value, if the word does not stand alone.
struct SaidValue {
  bool is_said = false;
  std::string value;
};

SaidValue said_of(const Axis& a, Spelling spelling, const Strategy& s) {
  if (spelling == Spelling::brief) {
    const std::int64_t value = a.get(s);
    return {a.always || value != a.otherwise, a.flag ? "" : predicted_value(a, value)};
  }
  if (a.program.flag != nullptr) return {s.*a.program.flag, ""};
  std::string value = program_value(a.program, s);
  return {!value.empty(), std::move(value)};
}

std::string item_of(std::string_view word, std::string_view value) { return fmt::format("{}{}{}", word, value.empty() ? "" : "=", value); }

[[noreturn]] void reject_word(std::string_view word, Spelling spelling) {
  std::vector<std::string> known, words;
  for (const Axis* a : axes_of_text(spelling)) {
    for (const std::string_view name : {a->word, a->brief}) {
      if (name.size() > 1) words.emplace_back(name);
    }
    const std::string text = item_of(a->word_in(spelling), "") + (stands_alone(*a, spelling) ? "" : "=");
    if (known.empty() || known.back() != text) known.push_back(text);
  }
  const std::vector<std::string> near = similar_names(word, words);
  fail(ErrorKind::poplar_error, "strategy-word", "a strategy has no word '{}'{}; its words are {}", word,
       near.empty() ? "" : "; the nearest is " + near[0], fmt::join(known, " "));
}

// A word of the other spelling that stands alone there, or here, is read as it is there: sequence-parallel is comm=sequence-parallel.
Spelling spelling_of(const Axis& a, std::string_view word, Spelling spelling) {
  const Spelling other = spelling == Spelling::brief ? Spelling::whole : Spelling::brief;
  const bool is_others = word != a.word_in(spelling) && word == a.word_in(other) && a.is_in(other);
  return is_others && stands_alone(a, spelling) != stands_alone(a, other) ? other : spelling;
}

void read_item(Strategy& s, Spelling spelling, const std::vector<const Axis*>& rows, std::string_view word, std::string_view value) {
  if (spelling == Spelling::whole) return read_program_value(rows[0]->program, s, word, value);
  if (rows[0]->flag) return rows[0]->set(s, 1);
  const std::vector<std::string_view> parts = rows.size() == 1 ? std::vector{value} : split(value, "/");
  if (parts.size() != rows.size())
    reject_value(word, value, fmt::format("a list of {} numbers, as {},", rows.size(), fmt::join(std::vector<int>(rows.size(), 0), "/")));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->set(s, read_predicted_value(*rows[i], word, parts[i]));
}

}  // namespace

// --- the table --------------------------------------------------------------------------------------------------------------------------

#define X(name) Axis axis_##name();
#include "axis_manifest.inc"
#undef X

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all = {
#define X(name) axis_##name(),
#include "axis_manifest.inc"
#undef X
  };
  return all;
}

const std::vector<const Axis*>& predicted_axes() {
  static const std::vector<const Axis*> all = [] {
    std::vector<const Axis*> rows;
    for (const Axis& a : axes()) {
      if (a.get != nullptr) rows.push_back(&a);
    }
    std::ranges::stable_sort(rows, {}, &Axis::nesting);
    return rows;
  }();
  return all;
}

const std::vector<const Axis*>& axes_of_text(Spelling spelling) {
  const auto made = [](Spelling of) {
    std::vector<const Axis*> rows;
    for (const Axis& a : axes()) {
      if (a.is_in(of)) rows.push_back(&a);
    }
    // Axes that share a word come in the order in which they are chosen.
    std::ranges::sort(rows, {}, [of](const Axis* a) {
      return of == Spelling::brief ? std::pair(a->position, a->nesting) : std::pair(a->program.position, a->program.nesting);
    });
    return rows;
  };
  static const std::vector<const Axis*> whole = made(Spelling::whole), brief = made(Spelling::brief);
  return spelling == Spelling::brief ? brief : whole;
}

bool Axis::is_named(std::string_view name) const {
  return word == name || (!brief.empty() && brief == name) || std::ranges::find(aliases, name) != aliases.end();
}

std::vector<const Axis*> axes_named(std::string_view word, Spelling spelling) {
  std::vector<const Axis*> all;
  for (const Axis* a : axes_of_text(spelling)) {
    if (a->is_named(word)) all.push_back(a);
  }
  return all;
}

// --- texts ------------------------------------------------------------------------------------------------------------------------------

std::string text_of(const Axis& a, std::int64_t value) {
  return item_of(a.word_in(Spelling::brief), a.flag ? "" : predicted_value(a, value));
}

std::string to_string(const Strategy& s, Spelling spelling) {
  std::string text;
  const std::vector<const Axis*>& rows = axes_of_text(spelling);
  for (std::size_t i = 0; i < rows.size();) {
    const std::string_view word = rows[i]->word_in(spelling);
    bool is_said = false;
    std::string values;
    for (const std::size_t first = i; i < rows.size() && rows[i]->word_in(spelling) == word; ++i) {
      const SaidValue said = said_of(*rows[i], spelling, s);
      is_said |= said.is_said;
      values += (i > first ? "/" : "") + said.value;
    }
    if (is_said) text += (text.empty() ? "" : " ") + item_of(word, values);
  }
  return text.empty() ? "data=1" : text;
}

Strategy parse_strategy(std::string_view text, Spelling spelling, Strategy s) {
  std::set<const Axis*> said;
  for (const std::string_view item : split(text, " ,")) {
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view word = item.substr(0, equals), value = item.substr(std::min(equals + 1, item.size()));
    const std::vector<const Axis*> rows = axes_named(word, spelling);
    if (rows.empty()) reject_word(word, spelling);
    const Spelling as = spelling_of(*rows[0], word, spelling);
    const bool is_alone = stands_alone(*rows[0], as), has_value = equals < item.size();
    if (is_alone == has_value)
      fail(ErrorKind::poplar_error, "strategy-word", "'{}': {} is expected", item,
           is_alone ? std::string(word) : fmt::format("{}=VALUE", word));
    if (!said.insert(rows[0]).second && spelling == Spelling::brief)
      fail(ErrorKind::poplar_error, "strategy-word", "'{}' is said twice", word);
    read_item(s, as, rows, word, value);
  }
  return s;
}

std::string to_options(const Strategy& s) {
  std::string text;
  for (const Axis* a : axes_of_text(Spelling::whole)) {
    auto [is_said, value] = said_of(*a, Spelling::whole, s);
    if (!is_said) continue;
    const ProgramAxis& p = a->program;
    const char between = p.numbers != nullptr ? '/' : p.between;
    if (between != '\0') std::ranges::replace(value, between, ',');
    // Names may have a star, which is the shell's, too.
    if (between == ';') value = '\'' + value + '\'';
    const std::string_view option = p.option_of != nullptr ? p.option_of(s) : p.option.empty() ? a->word : p.option;
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

// --- choices ----------------------------------------------------------------------------------------------------------------------------

void add_choices(const Axis& axis, const SpaceFacts& facts, const Strategy& s, const Strategy* demanded, std::vector<Strategy>& to) {
  const ProgramAxis& a = axis.program;
  if (a.is_open != nullptr && !a.is_open(s)) return to.push_back(s);
  const std::size_t before = to.size();
  if (demanded != nullptr && a.on_demand) {
    copy_value(a, *demanded, to.emplace_back(s));
  } else if (a.numbers_of_space != nullptr) {
    for (const std::int32_t n : a.numbers_of_space(facts, s)) {
      if (demanded == nullptr || demanded->*a.number == n) to.emplace_back(s).*a.number = n;
    }
  } else {
    a.choices(facts, s, to);
  }
  if (a.is_possible == nullptr) return;
  to.erase(std::remove_if(to.begin() + static_cast<std::ptrdiff_t>(before), to.end(),
                          [&](const Strategy& with) { return !a.is_possible(facts, with); }),
           to.end());
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

std::vector<std::int32_t> divisors(std::int64_t n, std::int64_t most) {
  Values all;
  add_divisors(n, all);
  std::vector<std::int32_t> some;
  for (const std::int64_t d : all) {
    if (d <= most) some.push_back(static_cast<std::int32_t>(d));
  }
  return some;
}

}  // namespace pando::search
