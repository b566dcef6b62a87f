// The axes of a strategy: what is chosen of how a step is distributed. Each is a file of axes/, found by the build. Texts in both
// spellings, the options of `pando transform`, Python's words, rules, spaces, bounds, --require, --why-not and the page of words loop over
// the table.
#pragma once

#include "search/space.h"
#include "search/strategy.h"
#include "search/strategy_text.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pando::search {

using Values = std::vector<std::int64_t>;

// What programs have of an axis.
struct ProgramAxis {
  // Place in a text; 0: programs do not have the axis.
  int position = 0;
  // The option of `pando transform` without its dashes, where it is another word; with which that strategy is written.
  std::string_view option;
  std::string_view (*option_of)(const Strategy&) = nullptr;
  // What help says is not given; empty: nothing.
  std::string_view shown_default;

  // Of a number (one of these kinds, or write and read): the member, and its range.
  std::int32_t Strategy::* number = nullptr;
  std::int32_t least = 1, most = std::numeric_limits<std::int32_t>::max(), otherwise = 1;
  // Of several numbers, with / between them; none are not said.
  std::vector<std::uint32_t> Strategy::* numbers = nullptr;
  // Of a word that stands alone.
  bool Strategy::* flag = nullptr;

  // Of other values: the text, empty where nothing is chosen, and its reader, which gets the word as the user wrote it. Rejects
  // (poplar_error).
  std::string (*write)(const Strategy&) = nullptr;
  void (*read)(Strategy&, std::string_view word, std::string_view value) = nullptr;
  // What stands between the parts of such a value; '\0': it is one. And what parts are possible, where the table knows.
  char between = '\0';
  std::vector<std::string_view> parts;
  // Of other values that can be demanded of a space: takes the value of another strategy (copies<>).
  void (*copy)(const Strategy& from, Strategy& to) = nullptr;

  // --- in a space
  // Place in the order of choices: after axes with less. 0: no space has the axis.
  int nesting = 0;
  // Points that differ in such axes alone are a group (programs/program_space.h).
  bool inside_group = false;
  // Where it is false, nothing is chosen, whatever a user demands. Null: it is chosen everywhere.
  bool (*is_open)(const Strategy&) = nullptr;
  // The values, after those of axes with less nesting: of a number; of any other one, strategies that have them.
  std::vector<std::int32_t> (*numbers_of_space)(const SpaceFacts&, const Strategy&) = nullptr;
  void (*choices)(const SpaceFacts&, const Strategy&, std::vector<Strategy>& to) = nullptr;
  // A user may demand values that are not among these.
  bool on_demand = true;
  // What is not in the space, demanded or not.
  bool (*is_possible)(const SpaceFacts&, const Strategy&) = nullptr;

  // Where a program's value says something else: its sentence.
  std::string_view doc;
};

struct Axis {
  // "tensor" in tensor=8: the whole spelling, and the option of `pando transform`. Axes that share a word share its value: levels=0/1/1, in
  // the order of printing.
  std::string_view word;
  // "t" in t=8: the brief spelling; empty: as the word.
  std::string_view brief;
  // Words that mean the same.
  std::vector<std::string_view> aliases;
  // One sentence.
  std::string_view doc;
  // What trainers call it, and which of them have it.
  std::string_view trainers;
  // What the default space leaves out, and why; empty: nothing.
  std::string_view outside;

  // --- of predictions by sizes; where `get` is null, they do not have the axis
  // Places in a text and in the order of choices.
  int position = 0, nesting = 0;
  AxisPart part = AxisPart::group;
  // A value that is not said.
  std::int64_t otherwise = 0;
  // Of values by name, the names; values are their positions. Empty: numbers.
  std::vector<std::string_view> names;
  // By value, too: what it was called once; it is still read.
  std::vector<std::string_view> old_names;
  // The word alone means 1.
  bool flag = false;
  // Said in every text.
  bool always = false;
  // A user may demand values that no space has.
  bool on_demand = false;
  std::int64_t (*get)(const Strategy&) = nullptr;
  void (*set)(Strategy&, std::int64_t) = nullptr;
  // The values that a space has, given those of axes with less nesting.
  void (*domain)(const SpaceFacts&, const Strategy&, Values&) = nullptr;
  // What makes a value impossible, or one that changes nothing; empty: it is possible. Axes of groups look at axes of groups
  // alone.
  Violation (*rule)(const StrategyFacts&, const Strategy&) = nullptr;
  // What of a strategy no transform makes: such values are predicted alone. Empty: a program can be made of it. Null: of every value.
  std::string_view (*missing)(const Strategy&) = nullptr;
  // How a program's strategy says the value. Null: as this one does, or not at all.
  void (*apply)(const StrategyFacts&, const Strategy&, Strategy& program) = nullptr;
  // Floors of a group, of axes that are chosen inside it: the value with which nothing computes longer, and those among which is the one
  // that holds least. Null: `otherwise`.
  std::int64_t (*quickest)(const SpaceFacts&, const Strategy&) = nullptr;
  void (*thriftiest)(const SpaceFacts&, const Strategy&, Values&) = nullptr;

  ProgramAxis program;

  std::string_view word_in(Spelling s) const { return s == Spelling::brief && !brief.empty() ? brief : word; }
  bool is_named(std::string_view name) const;
  bool is_in(Spelling s) const { return s == Spelling::brief ? get != nullptr : program.position > 0; }
};

// All of them, in no order that counts.
const std::vector<Axis>& axes();
// Of predictions, by nesting.
const std::vector<const Axis*>& predicted_axes();
// Of texts in a spelling, by their places.
const std::vector<const Axis*>& axes_of_text(Spelling spelling);
// With that word or alias; in the brief spelling they may share it. None: there are none.
std::vector<const Axis*> axes_named(std::string_view word, Spelling spelling);

// The values that a space has: its domain, without what cannot be run where the space demands that.
void add_values(const Axis& a, const SpaceFacts& c, const Strategy& s, Values& to);
// All strategies that a program's space has of an axis, after those of axes with less nesting; `demanded`: with this value alone.
void add_choices(const Axis& axis, const SpaceFacts& facts, const Strategy& s, const Strategy* demanded, std::vector<Strategy>& to);
// By all axes.
std::vector<std::string_view> missing_of(const Strategy& s);

// By PipelineSchedule.
inline constexpr std::array<std::string_view, 4> kSchedules = {"1F1B", "ZB-H1", "ZB-H2", "ZBV"};

// "t=8", "regather".
std::string text_of(const Axis& a, std::int64_t value);

// --- for rows

template <auto Member>
Axis axis_of(std::string_view word, std::string_view doc, int position, int nesting, std::int64_t otherwise) {
  Axis a;
  a.word = word, a.doc = doc, a.position = position, a.nesting = nesting, a.otherwise = otherwise;
  a.get = [](const Strategy& s) { return static_cast<std::int64_t>(s.*Member); };
  a.set = [](Strategy& s, std::int64_t v) { s.*Member = static_cast<std::remove_cvref_t<decltype(s.*Member)>>(v); };
  return a;
}

// Whether a space has levels of the network to choose from.
bool chooses_levels(const SpaceFacts& c);
// Whether a space lets things lie in the second memory.
inline bool may_offload(const SpaceFacts& c) { return c.space.reach == Reach::everything && c.sizes->cluster.far_bytes > 0; }
inline Violation broken(std::string rule, std::string message) { return {std::move(rule), std::move(message)}; }
template <auto Member>
Axis offload_axis(std::string_view word, std::string_view doc, int position, int nesting) {
  Axis a = axis_of<Member>(word, doc, position, nesting, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.domain = [](const SpaceFacts& c, const Strategy&, Values& all) {
    all.push_back(0);
    if (may_offload(c)) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    return s.*Member && f.cluster.far_bytes == 0 ? broken("offload", "the machine has no second memory") : Violation();
  };
  a.thriftiest = [](const SpaceFacts& c, const Strategy&, Values& all) { all.push_back(may_offload(c)); };
  return a;
}
// Which level of the network that has `Degree` devices uses.
template <auto Member, auto Degree>
Axis level_axis(std::string_view doc, int nesting, AxisPart part) {
  Axis a = axis_of<Member>("levels", doc, 14, nesting, -1);
  a.part = part;
  a.domain = [](const SpaceFacts& c, const Strategy& s, Values& all) {
    if (!chooses_levels(c)) return all.push_back(-1);
    for (std::size_t l = 0; l < (s.*Degree > 1 ? c.sizes->cluster.levels.size() : 1); ++l) all.push_back(static_cast<std::int64_t>(l));
  };
  return a;
}
void add_divisors(std::int64_t n, Values& to);
// Of n, up to `most`.
std::vector<std::int32_t> divisors(std::int64_t n, std::int64_t most = std::numeric_limits<std::int32_t>::max());
template <auto... Members>
void copies(const Strategy& from, Strategy& to) {
  ((to.*Members = from.*Members), ...);
}
// Rejects (poplar_error): "'zero=x': EXPECTED is expected".
[[noreturn]] void reject_value(std::string_view word, std::string_view value, std::string_view expected);

}  // namespace pando::search
