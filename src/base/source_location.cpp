#include "base/source_location.h"

#include <algorithm>

namespace pando {

std::string text_of(const SourceLocation& at) {
  std::string text = at.source;
  if (at.line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", at.line);
  if (at.line > 0 && at.column > 0) text += fmt::format(":{}", at.column);
  if (!at.part.empty()) text += fmt::format("{}{}", text.empty() ? "" : ": ", at.part);
  return text;
}

SourceLocation location_in(std::string_view text, std::size_t offset, std::string source) {
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t last = before.rfind('\n');
  return {std::move(source), line + 1, before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1};
}

std::string_view id_of(std::string_view what) {
  const std::size_t open = what.rfind(" [");
  if (open == std::string_view::npos || !what.ends_with(']')) return {};
  const std::string_view id = what.substr(open + 2, what.size() - open - 3);
  // Ids have no spaces: "[1, 2]" at the end of a message is none.
  return id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string_view::npos ? id : std::string_view();
}

std::string_view without_id(std::string_view what) {
  const std::size_t id = id_of(what).size();
  return id == 0 ? what : what.substr(0, what.size() - id - 3);
}

}  // namespace pando
