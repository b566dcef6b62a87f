// The axes of a strategy: what is chosen of how a program is distributed. Each is a file of axes/, found by the build. Texts, the options
// of `pando transform`, Python's words, messages, and the spaces of searches loop over the table.
//
//     AxisRow axis_tensor() {
//       return {.word = "tensor", .aliases = {"t"}, .position = 20, .doc = "Devices that share each layer's weights",
//               .number = &Strategy::tensor, .nesting = 10,
//               .numbers_of_space = [](const SpaceFacts& f, const Strategy&) { return divisors(f.space.devices); }};
//     }
#pragma once

#include "transform/distribute/layout/strategy.h"
#include "transform/distribute/space.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pando::transform {

struct AxisRow {
  // "data" in data=2; "sequence-parallel", which stands alone.
  std::string_view word;
  // Words that mean the same.
  std::vector<std::string_view> aliases;
  // Place in a text.
  int position = 0;
  // One sentence: what a value says.
  std::string_view doc;
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

  // Of other values: the text, empty where nothing is chosen, and its reader, which gets the word as the user wrote it. Refuses
  // (poplar_error).
  std::string (*write)(const Strategy&) = nullptr;
  void (*read)(Strategy&, std::string_view word, std::string_view value) = nullptr;
  // What stands between the parts of such a value; '\0': it is one. And what parts are possible, where the table knows.
  char between = '\0';
  std::vector<std::string_view> parts;
  // Of other values that can be demanded of a space: takes the value of another strategy (copies<>).
  void (*copy)(const Strategy& from, Strategy& to) = nullptr;

  // --- in a space (space.h)
  // Place in the order of choices: after axes with less. 0: no space has the axis.
  int nesting = 0;
  // Points that differ in such axes alone are a group (search/programs/program_space.h).
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

  bool is_named(std::string_view name) const;
};

// By position.
const std::vector<AxisRow>& axis_rows();
// With that word or alias; null without one.
const AxisRow* find_axis(std::string_view word);

// All strategies that a space has of an axis, after those of axes with less nesting; `demanded`: with this value alone.
void add_choices(const AxisRow& row, const SpaceFacts& facts, const Strategy& s, const Strategy* demanded, std::vector<Strategy>& to);

// --- for rows

// Parts of a text, none of them empty.
std::vector<std::string_view> split(std::string_view text, std::string_view at);
// Of n, up to `most`.
std::vector<std::int32_t> divisors(std::int64_t n, std::int64_t most = std::numeric_limits<std::int32_t>::max());
template <auto... Members>
void copies(const Strategy& from, Strategy& to) {
  ((to.*Members = from.*Members), ...);
}
// Refuses (poplar_error): "'zero=x': EXPECTED is expected".
[[noreturn]] void refuse_value(std::string_view word, std::string_view value, std::string_view expected);

}  // namespace pando::transform
