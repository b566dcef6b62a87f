// pando shell: becomes pando-shell, which stands beside this program.
#include "cli/command_row.h"

namespace pando::cli {

CommandRow command_shell() {
  return {
      .name = "shell",
      .group = CommandGroup::python,
      .summary = "Open a shell on tile 0, with files in the tiles' memory",
      .program = "pando-shell",
  };
}

}  // namespace pando::cli
