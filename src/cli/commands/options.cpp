// pando options: what an engine's options are.
#include "base/command/files.h"
#include "cli/command_row.h"
#include "facade/engine/engine_option_rows.h"

namespace pando::cli {
namespace {

void describe(CLI::App* command, Invocation& invocation) {
  command->callback([&invocation] {
    write_file("-", facade::describe_engine_options());
    invocation.status = 0;
  });
}

}  // namespace

CommandRow command_options() {
  return {
      .name = "options",
      .group = CommandGroup::look,
      .summary = "List the options of an engine and their effects",
      .describe = describe,
      .examples = {{"pando options", "a table in Markdown"}},
      .statuses = {{"0", "listed"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
