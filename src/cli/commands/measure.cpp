// pando measure: becomes pando-measure, which stands beside this program.
#include "cli/command_row.h"

namespace pando::cli {

CommandRow command_measure() {
  return {
      .name = "measure",
      .group = CommandGroup::predict,
      .summary = "Compare predictions with runs: of a program, of many, on IPUs, on this host",
      .program = "pando-measure",
  };
}

}  // namespace pando::cli
