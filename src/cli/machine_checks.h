// What the cycle model predicts beside what was published of real machines.
#pragma once

#include <string>

namespace pando::cli {

struct MachineChecks {
  std::string text;     // a line for each measurement: held-out rows, then those that constants were fitted on
  bool all_met = true;  // each is within its tolerance
};
MachineChecks check_machines();

}  // namespace pando::cli
