// pando options: what an engine's options are.
#include "base/command/files.h"
#include "cli/commands.h"
#include "facade/engine/engine_option_rows.h"

namespace pando::cli {

void add_options(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("options", "List the options of an engine and their effects");
  command->callback([&status] {
    write_file("-", facade::describe_engine_options());
    status = 0;
  });
}

}  // namespace pando::cli
