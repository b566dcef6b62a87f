#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_branch_false = {
    .name = "branch_false",
    .text = "unless $b to $t",
    .b = Names::location,
    .work = Work::little,
    .flow = Flow::branch,
    .perform = [](StepMachine& machine, const Program& program, const Instruction& in) {
      machine.decide(machine.load(program.locations[in.b]) == 0);
    },
};

}  // namespace pando::tile
