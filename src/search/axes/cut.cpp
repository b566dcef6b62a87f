#include "search/axis.h"

#include <fmt/format.h>

#include <charconv>

namespace pando::search {

namespace {

std::string write_cuts(const Strategy& s) {
  std::string cuts;
  for (const auto& [name, dim] : s.cut) cuts += fmt::format("{}{}:{}", cuts.empty() ? "" : ";", name, dim);
  return cuts;
}

void read_cuts(Strategy& s, std::string_view word, std::string_view value) {
  s.cut.clear();
  for (std::string_view item : split(value, ";")) {
    const std::size_t colon = item.rfind(':');
    std::int32_t dim = colon == std::string_view::npos ? 0 : -2;
    if (colon != std::string_view::npos) {
      const auto [end, error] = std::from_chars(item.data() + colon + 1, item.data() + item.size(), dim);
      if (error != std::errc() || end != item.data() + item.size()) dim = -2;
    }
    if (colon == 0 || dim < -1) reject_value(word, value, "a list of name:dimension (-1: whole), with ; between them,");
    s.cut[std::string(item.substr(0, colon))] = dim;
  }
}

void add_cuts(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.push_back(s);
  const auto cuts = f.cuts.find(s.tensor);
  if (cuts == f.cuts.end()) return;
  for (const Cuts& c : cuts->second) to.emplace_back(s).cut = c;
}

}  // namespace

Axis axis_cut() {
  Axis a;
  a.word = "cut";
  a.doc = "Weights that --tensor cuts, as name:dimension; -1: not. Others are found";
  a.program = {.position = 140,
               .write = write_cuts,
               .read = read_cuts,
               .between = ';',
               .copy = copies<&Strategy::cut>,
               .nesting = 110,
               .choices = add_cuts};
  return a;
}

}  // namespace pando::search
