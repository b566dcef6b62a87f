#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_combine = {
    .name = "combine",
    // The AND of all locations of the range but the last goes to the last.
    .text = "combine $r <-$l",
    .kind = "combine",
    .a = Names::locations_begin,
    .b = Names::locations_end,
    .work = Work::little,
    .is_observed = true,
    .is_memory_step = true,
    .perform = [](StepMachine& machine, const Program& program, const Instruction& in) {
      bool all = true;
      for (std::uint32_t i = in.a; i + 1 < in.b; ++i) all = all && machine.load(program.locations[i]) != 0;
      machine.store(program.locations[in.b - 1], all ? 1 : 0);
    },
};

}  // namespace pando::tile
