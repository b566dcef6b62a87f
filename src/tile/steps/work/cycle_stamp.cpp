#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_cycle_stamp = {
    .name = "cycle_stamp",
    // The clock of the stream.
    .text = "cycle stamp $a -> $b",
    .kind = "stamp",
    .a = Names::tile,
    .b = Names::location,
    .work = Work::little,
    .is_observed = true,
    .reads_clock = true,
    .perform = [](StepMachine& machine, const Program& program, const Instruction& in) {
      machine.store_clock(program.locations[in.b]);
    },
};

}  // namespace pando::tile
