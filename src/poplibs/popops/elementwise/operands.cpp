#include "operands.h"
#include "poplibs/poputil/reject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <poputil/exceptions.hpp>

namespace popops::internal {

namespace {

std::string text_of(const std::vector<std::vector<std::size_t>>& shapes) {
  std::string out;
  for (const auto& shape : shapes) out += fmt::format("{}{{{}}}", out.empty() ? "" : ", ", fmt::join(shape, ","));
  return out;
}

}  // namespace

std::vector<std::size_t> broadcast_shape(const std::vector<std::vector<std::size_t>>& shapes, const std::string& where) {
  std::vector<std::size_t> out;
  for (const auto& shape : shapes) out.resize(std::max(out.size(), shape.size()), 1);
  std::fill(out.begin(), out.end(), 1);
  for (const auto& shape : shapes)
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::size_t& to = out[out.size() - shape.size() + i];
      if (to != 1 && shape[i] != 1 && to != shape[i])
        poputil::reject("shapes-do-not-broadcast", "{}", where + ": shapes do not broadcast: " + text_of(shapes));
      if (to == 1) to = shape[i];
    }
  return out;
}

std::optional<Pattern> pattern_of(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to) {
  Pattern p;
  enum { trailing, own, leading } part = trailing;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::size_t d = to.size() - 1 - i, mine = i < from.size() ? from[from.size() - 1 - i] : 1;
    if (to[d] == 1) continue;
    const bool repeats = mine == 1;
    if (part == trailing && !repeats) part = own;
    if (part == own && repeats) part = leading;
    if (part == leading && !repeats) return {};
    (part == own ? p.period : p.repeat) *= part == leading ? 1 : to[d];
  }
  if (p.period == 1) p.repeat = 1;
  return p;
}

}  // namespace popops::internal
