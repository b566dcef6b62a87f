#include "base/command/help.h"

#include <fmt/format.h>

namespace pando {

std::string help_footer(const std::vector<CommandExample>& examples, const std::vector<CommandStatus>& statuses) {
  std::string text = examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const CommandExample& e : examples) text += fmt::format("  {}\n      {}\n", e.command, e.what);
  text += "\nExit status:\n";
  for (const CommandStatus& s : statuses) text += fmt::format("  {:<4}{}\n", s.status, s.meaning);
  text.pop_back();  // the formatter ends the line
  return text;
}

}  // namespace pando
