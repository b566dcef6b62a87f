// pando completion: what completes the command line of pando in a shell.
#include <fmt/format.h>

#include <map>
#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "cli/command_row.h"
#include "cli/shared/completion_scripts.h"

namespace pando::cli {
namespace {

const std::map<std::string, std::string (*)(std::span<const HelpEntry>)> kWriters = {
    {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

void describe(CLI::App* command, Invocation& invocation) {
  const auto shell = std::make_shared<std::string>();
  std::vector<std::string> shells;
  for (const auto& [name, writer] : kWriters) shells.push_back(name);
  command->add_option("shell", *shell, "The shell")->required()->check(one_of(shells));
  command->callback([command, shell, &invocation] {
    const CLI::App* const pando = command->get_parent();
    write_file("-", kWriters.at(*shell)(help_entries(*pando)));
    invocation.status = 0;
  });
}

}  // namespace

CommandRow command_completion() {
  return {
      .name = "completion",
      .group = CommandGroup::setup,
      .summary = "Write the script that completes commands and options in a shell",
      .describe = describe,
      .examples = {{"source <(pando completion bash)", "for this shell"},
                   {"pando completion fish > ~/.config/fish/completions/pando.fish", "for every fish"},
                   {"pando completion zsh > ~/.zfunc/_pando", "for every zsh, if ~/.zfunc is in fpath"}},
      .statuses = {{"0", "written"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
