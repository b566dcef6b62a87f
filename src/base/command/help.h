// What follows the options in the help of a command: examples and exit statuses, in one form for all tools.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pando {

struct CommandExample {
  std::string_view command;  // "pando report profile.pando"
  std::string_view what;     // "its summary"
};

struct CommandStatus {
  std::string_view status;  // "0", or "N": one that follows from something else
  std::string_view meaning;
};

// The lines of both, for CLI::App::footer.
std::string help_footer(const std::vector<CommandExample>& examples, const std::vector<CommandStatus>& statuses);

}  // namespace pando
