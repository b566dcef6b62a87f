// pando run: becomes pando-run, which stands beside this program.
#include "cli/command_row.h"

namespace pando::cli {

CommandRow command_run() {
  return {
      .name = "run",
      .group = CommandGroup::distribute,
      .summary = "Run a program of several devices: threads of one process, or MPI ranks",
      .program = "pando-run",
  };
}

}  // namespace pando::cli
