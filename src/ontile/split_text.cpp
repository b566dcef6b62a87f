#include "ontile/split_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pando::ontile {

namespace {

// The position behind the line end nearest to `at`, but not before `from`.
std::size_t nearest_line(std::string_view text, std::size_t from, std::size_t at) {
  if (at >= text.size()) return text.size();
  const std::size_t newline = text.find('\n', at);
  const std::size_t after = newline == std::string_view::npos ? text.size() : newline + 1;
  if (at == 0) return std::max(from, std::size_t{0});
  const std::size_t earlier = text.rfind('\n', at - 1);
  const std::size_t before = earlier == std::string_view::npos ? 0 : earlier + 1;
  if (before < from) return after;
  return at - before <= after - at ? before : after;
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, unsigned pieces, Cut where) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (unsigned i = 0; i < pieces; ++i) {
    std::size_t end = static_cast<std::size_t>(static_cast<unsigned __int128>(text.size()) * (i + 1) / pieces);
    if (where == Cut::lines) end = i + 1 == pieces ? text.size() : nearest_line(text, begin, end);
    end = std::max(begin, end);
    out.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return out;
}

}  // namespace pando::ontile
