// pando measure: becomes pando-measure, which stands beside this program.
#include "cli/commands.h"

namespace pando::cli {

void add_measure(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand("measure", "Predictions beside runs: of a program, of many, on IPUs, on this host");
  command->prefix_command();
  command->set_help_flag();  // its own options are its own, --help among them
  command->callback([command] { become("pando-measure", command->remaining()); });
}

}  // namespace pando::cli
