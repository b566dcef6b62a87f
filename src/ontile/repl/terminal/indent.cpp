#include "ontile/repl/terminal/indent.h"

#include <algorithm>

namespace pando::ontile {

std::string next_indent(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == line.npos) return std::string(line.size(), ' ');
  const std::string_view code = line.substr(first, line.find_last_not_of(" \t") + 1 - first);
  std::size_t indent = first;
  const std::string_view word = code.substr(0, code.find_first_of(" ("));
  const bool leaves = word == "return" || word == "pass" || word == "break" || word == "continue" || word == "raise";
  if (code.back() == ':')
    indent += kIndent;
  else if (leaves)
    indent -= std::min(indent, kIndent);
  return std::string(indent, ' ');
}

std::size_t backspace(std::string_view before) {
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 if there is none
  const std::string_view line = before.substr(line_begin);
  if (line.empty() || line.find_first_not_of(' ') != line.npos) return before.empty() ? 0 : 1;
  return line.size() % kIndent == 0 ? kIndent : line.size() % kIndent;
}

}  // namespace pando::ontile
