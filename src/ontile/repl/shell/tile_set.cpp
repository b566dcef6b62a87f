#include "ontile/repl/shell/tile_set.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <poplar/exceptions.hpp>
#include <set>

#include "ontile/reject.h"

namespace pando::ontile {
namespace {

constexpr std::size_t kLongSlice = 6;  // fewer tiles than this in steps are listed

std::string_view strip(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<unsigned> number(std::string_view text) {
  text = strip(text);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Range {
  unsigned begin = 0;
  unsigned end = 0;  // not in it
  unsigned step = 1;
};

std::optional<Range> first_to_last(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last == ~0u) return std::nullopt;
  return Range{*first, *last + 1};
}

// As a slice: both ends may be left out.
std::optional<Range> slice(std::string_view text, const Tiles& tiles) {
  const std::size_t colon = text.find(':');
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t second = rest.find(':');
  const auto or_else = [](std::string_view part, unsigned value) {
    return strip(part).empty() ? std::optional<unsigned>(value) : number(part);
  };
  const auto begin = or_else(text.substr(0, colon), 0);
  const auto end = or_else(rest.substr(0, second), tiles.count);
  const auto step = second == rest.npos ? std::optional<unsigned>(1) : or_else(rest.substr(second + 1), 1);
  if (!begin || !end || !step || *step == 0 || *begin >= *end) return std::nullopt;
  return Range{*begin, *end, *step};
}

std::optional<Range> ipu(std::string_view text, const Tiles& tiles) {
  const auto which = first_to_last(text);
  if (!which) return std::nullopt;
  if (which->end > tiles.ipus)
    reject<poplar::invalid_option>("no-such-ipu", "'ipu {}': this machine has {} IPU{}, 0 to {}", strip(text), tiles.ipus,
                                   tiles.ipus == 1 ? "" : "s", tiles.ipus - 1);
  const unsigned each = tiles.count / tiles.ipus;
  return Range{which->begin * each, which->end * each};
}

Range parse_part(std::string_view part, const Tiles& tiles) {
  std::optional<Range> range;
  if (part == "all")
    range = Range{0, tiles.count};
  else if (part == "even")
    range = Range{0, tiles.count, 2};
  else if (part == "odd")
    range = Range{1, tiles.count, 2};
  else if (part.starts_with("ipu"))
    range = ipu(part.substr(3), tiles);
  else if (part.find(':') != part.npos)
    range = slice(part, tiles);
  else
    range = first_to_last(part);
  if (!range)
    reject<poplar::invalid_option>("tile-set", "'{}' names no tiles; expected something like 3, 0-5, 0:{}:2, even, odd, ipu 0 or all", part,
                                   tiles.count);
  if (range->end > tiles.count)
    reject<poplar::invalid_option>("no-such-tile", "'{}': there are {} tiles, 0 to {}", part, tiles.count, tiles.count - 1);
  return *range;
}

}  // namespace

std::vector<unsigned> parse_tiles(std::string_view text, const Tiles& tiles) {
  std::set<unsigned> chosen;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const Range range = parse_part(strip(text.substr(begin, comma - begin)), tiles);
    for (unsigned tile = range.begin; tile < range.end; tile += range.step) chosen.insert(chosen.end(), tile);
    begin = comma + 1;
  }
  return {chosen.begin(), chosen.end()};
}

std::string print_tiles(const std::vector<unsigned>& tiles) {
  if (tiles.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < tiles.size();) {
    if (!text.empty()) text += ',';
    const unsigned step = i + 1 < tiles.size() ? tiles[i + 1] - tiles[i] : 0;
    std::size_t last = i;
    while (last + 1 < tiles.size() && tiles[last + 1] - tiles[last] == step) ++last;
    if (step > 1 && last - i + 1 < kLongSlice) last = i;
    if (last == i)
      text += fmt::format("{}", tiles[i]);
    else if (step == 1)
      text += fmt::format("{}-{}", tiles[i], tiles[last]);
    else
      text += fmt::format("{}:{}:{}", tiles[i], tiles[last] + 1, step);
    i = last + 1;
  }
  return text;
}

}  // namespace pando::ontile
