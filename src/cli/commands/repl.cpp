// pando repl: becomes pando-repl, which stands beside this program.
#include "cli/command_row.h"

namespace pando::cli {

CommandRow command_repl() {
  return {
      .name = "repl",
      .group = CommandGroup::python,
      .summary = "Open a Python prompt for all tiles; run scripts, files and pipes on them",
      .program = "pando-repl",
  };
}

}  // namespace pando::cli
