// pando run: becomes pando-run, which stands beside this program.
#include "cli/commands.h"

namespace pando::cli {

void add_run(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand("run", "Run a program of several devices: threads of one process, or MPI ranks");
  command->prefix_command();
  command->set_help_flag();  // its own options are its own, --help among them
  command->callback([command] { become("pando-run", command->remaining()); });
}

}  // namespace pando::cli
