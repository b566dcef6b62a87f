// The axes of a strategy: what is chosen of how a step is distributed. Each is a file of axes/, found by the build. Texts, rules, spaces,
// bounds, --require, --why-not and the page of words loop over the table.
#pragma once

#include "search/search.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pando::search {

using Values = std::vector<std::int64_t>;

// What the values of an axis depend on, beside the axes that are chosen before it.
struct AxisContext : StrategyFacts {
  const Space& space;
};

// Where an axis is chosen: points with equal values of the first kind are a group (space.h), in which transfers are chosen, and then the
// rest.
enum class AxisPart : std::uint8_t { group, transfers, rest };

struct Axis {
  // "t" in t=8. Axes that share a word share its value: levels=0/1/1, in the order of printing.
  std::string_view word;
  // Words that mean the same.
  std::vector<std::string_view> aliases;
  // One sentence.
  std::string_view doc;
  // What trainers call it, and which of them have it.
  std::string_view trainers;
  // What the default space leaves out, and why; empty: nothing.
  std::string_view outside;
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
  void (*domain)(const AxisContext&, const Strategy&, Values&) = nullptr;
  // What makes a value impossible, or one that changes nothing; empty: it is possible.
  Violation (*rule)(const StrategyFacts&, const Strategy&) = nullptr;
  // What of a strategy no transform makes: such values are predicted alone. Empty: a program can be made of it. Null: of every value.
  std::string_view (*missing)(const Strategy&) = nullptr;
  // How a program's strategy says the value. Null: as this one does, or not at all.
  void (*apply)(const StrategyFacts&, const Strategy&, Strategy& program) = nullptr;
  // Floors of a group, of axes that are chosen inside it: the value with which nothing computes longer, and those among which is the one
  // that holds least. Null: `otherwise`.
  std::int64_t (*quickest)(const AxisContext&, const Strategy&) = nullptr;
  void (*thriftiest)(const AxisContext&, const Strategy&, Values&) = nullptr;
};

// The values that a space has: its domain, without what cannot be run where the space demands that.
void add_values(const Axis& a, const AxisContext& c, const Strategy& s, Values& to);
// By all axes.
std::vector<std::string_view> missing_of(const Strategy& s);

// By nesting.
const std::vector<Axis>& axes();
// By position in a text.
const std::vector<const Axis*>& axes_of_text();

// By PipelineSchedule.
inline constexpr std::array<std::string_view, 4> kSchedules = {"1F1B", "ZB-H1", "ZB-H2", "ZBV"};

// The first with that word, or alias; there is one.
const Axis& axis_named(std::string_view word);

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
bool chooses_levels(const AxisContext& c);
// Whether a space lets things lie in the second memory.
inline bool may_offload(const AxisContext& c) { return c.space.reach == Reach::everything && c.cluster.far_bytes > 0; }
inline Violation broken(std::string rule, std::string message) { return {std::move(rule), std::move(message)}; }
template <auto Member>
Axis offload_axis(std::string_view word, std::string_view doc, int position, int nesting) {
  Axis a = axis_of<Member>(word, doc, position, nesting, 0);
  a.flag = true;
  a.part = AxisPart::rest;
  a.domain = [](const AxisContext& c, const Strategy&, Values& all) {
    all.push_back(0);
    if (may_offload(c)) all.push_back(1);
  };
  a.rule = [](const StrategyFacts& f, const Strategy& s) {
    return s.*Member && f.cluster.far_bytes == 0 ? broken("offload", "the machine has no second memory") : Violation();
  };
  a.thriftiest = [](const AxisContext& c, const Strategy&, Values& all) { all.push_back(may_offload(c)); };
  return a;
}
// Which level of the network that has `Degree` devices uses.
template <auto Member, auto Degree>
Axis level_axis(std::string_view doc, int nesting, AxisPart part) {
  Axis a = axis_of<Member>("levels", doc, 14, nesting, -1);
  a.part = part;
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    if (!chooses_levels(c)) return all.push_back(-1);
    for (std::size_t l = 0; l < (s.*Degree > 1 ? c.cluster.levels.size() : 1); ++l) all.push_back(static_cast<std::int64_t>(l));
  };
  return a;
}
void add_divisors(std::int64_t n, Values& to);

}  // namespace pando::search
