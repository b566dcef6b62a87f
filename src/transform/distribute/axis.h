// The axes of a strategy: what is chosen of how a program is distributed. Each is a file of axes/, found by the build. Texts, the options
// of `pando transform`, Python's words and messages loop over the table.
//
//     AxisRow axis_tensor() {
//       return {.word = "tensor", .aliases = {"t"}, .position = 20, .doc = "Devices that share each layer's weights",
//               .number = &Strategy::tensor};
//     }
#pragma once

#include "transform/distribute/layout/strategy.h"

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

  bool is_named(std::string_view name) const;
};

// By position.
const std::vector<AxisRow>& axis_rows();
// With that word or alias; null without one.
const AxisRow* find_axis(std::string_view word);

// --- for rows

// Parts of a text, none of them empty.
std::vector<std::string_view> split(std::string_view text, std::string_view at);
// Refuses (poplar_error): "'zero=x': EXPECTED is expected".
[[noreturn]] void refuse_value(std::string_view word, std::string_view value, std::string_view expected);

}  // namespace pando::transform
