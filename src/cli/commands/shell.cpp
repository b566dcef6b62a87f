// pando shell: becomes pando-shell, which stands beside this program.
#include "cli/commands.h"

namespace pando::cli {

void add_shell(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand("shell", "A shell on tile 0, with files in the tiles' memory");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command] { become("pando-shell", command->remaining()); });
}

}  // namespace pando::cli
