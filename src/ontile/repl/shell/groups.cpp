#include "ontile/repl/shell/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "ontile/repl/shell/tile_set.h"

namespace pando::ontile {
namespace {

constexpr std::string_view kRulerColour = "\033[1;34m", kDim = "\033[2m", kRed = "\033[31m", kPlain = "\033[0m";
constexpr std::size_t kFewTiles = 24;  // characters: longer tile sets are for %who

std::string coloured(std::string_view text, std::string_view colour, const Style& style) {
  return style.colours ? fmt::format("{}{}{}", colour, text, kPlain) : std::string(text);
}

std::string ruler(const Group& group, const Style& style) {
  std::string text = coloured(fmt::format("---------- [{}x] ----------", group.tiles.size()), kRulerColour, style);
  const std::string tiles = print_tiles(group.tiles);
  if (tiles.size() <= kFewTiles) text += coloured(fmt::format(" tile{} {}", group.tiles.size() == 1 ? "" : "s", tiles), kDim, style);
  return text + '\n';
}

std::size_t count_lines(std::string_view text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

// The position after the n-th line end.
std::size_t after_lines(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  while (n-- > 0) at = text.find('\n', at) + 1;
  return at;
}

bool is_silent(const Group& group) { return group.text.empty() || group.ending == Ending::skipped; }

}  // namespace

std::vector<Group> group(const Reply& reply) {
  std::map<std::tuple<std::uint32_t, Ending, int>, std::size_t> place;
  std::vector<Group> groups;
  for (const Answer& answer : reply.answers) {
    const auto [at, fresh] = place.try_emplace({answer.text, answer.ending, answer.status}, groups.size());
    if (fresh) groups.push_back({reply.texts.at(answer.text), answer.ending, answer.status, {}});
    groups[at->second].tiles.push_back(answer.tile);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.tiles.size() > b.tiles.size(); });
  return groups;
}

std::size_t complaint_begin(const Group& group) {
  const std::string_view text = group.text;
  if (group.ending == Ending::raised) {
    const std::size_t traceback = text.rfind("Traceback (most recent call last):");
    return traceback == text.npos ? 0 : traceback;
  }
  if (group.ending != Ending::ended) return text.size();
  const std::size_t line_end = text.size() < 2 ? text.npos : text.rfind('\n', text.size() - 2);
  return line_end == text.npos ? 0 : line_end + 1;
}

std::string fold(std::string_view text, const Style& style) {
  std::string whole(text);
  if (!whole.empty() && whole.back() != '\n') whole += '\n';
  const std::size_t lines = count_lines(whole);
  // One line is not left out: the line that says so is as long.
  if (!style.fold || lines <= style.head + style.tail + 1) return whole;
  return whole.substr(0, after_lines(whole, style.head)) +
         coloured(fmt::format("... {} more lines ...", lines - style.head - style.tail), kDim, style) + '\n' +
         whole.substr(after_lines(whole, lines - style.tail));
}

std::string render(const std::vector<Group>& groups, const Style& style) {
  const auto body = [&](const Group& one) {
    const std::size_t wrong = complaint_begin(one);
    if (!style.colours || wrong == one.text.size()) return fold(one.text, style);
    const std::size_t end = one.text.back() == '\n' ? one.text.size() - 1 : one.text.size();
    return fold(fmt::format("{}{}{}{}\n", one.text.substr(0, wrong), kRed, one.text.substr(wrong, end - wrong), kPlain), style);
  };
  if (groups.size() == 1) return is_silent(groups.front()) ? "" : body(groups.front());
  std::string text;
  std::size_t shown = 0, left_out = 0;
  for (const Group& one : groups) {
    if (is_silent(one)) continue;
    if (style.fold && shown == style.max_groups) {
      ++left_out;
      continue;
    }
    text += ruler(one, style) + body(one);
    ++shown;
  }
  if (left_out > 0) text += coloured(fmt::format("... and {} more group{}", left_out, left_out == 1 ? "" : "s"), kDim, style) + '\n';
  return text;
}

}  // namespace pando::ontile
