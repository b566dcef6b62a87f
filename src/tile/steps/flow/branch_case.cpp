#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_branch_case = {
    .name = "branch_case",
    // The count is a signed 32-bit number.
    .text = "case $b = $i to $t",
    .b = Names::location,
    .work = Work::little,
    .flow = Flow::branch,
    .perform = [](StepMachine& machine, const Program& program, const Instruction& in) {
      machine.decide(machine.load(program.locations[in.b]) == static_cast<std::int32_t>(in.count));
    },
};

}  // namespace pando::tile
