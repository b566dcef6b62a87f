#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_load_code = {
    .name = "load_code",
    // The code of the function comes to the tiles.
    .text = "load code $a",
    .kind = "load code",
    .a = Names::function,
    .work = Work::load_code,
    .is_observed = true,
    .is_memory_step = true,
    .perform = [](StepMachine& machine, const Program&, const Instruction& in) {
      machine.set_loaded(FunctionId(in.a), true);
    },
};

}  // namespace pando::tile
