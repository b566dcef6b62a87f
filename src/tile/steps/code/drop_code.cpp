#include "tile/step.h"

namespace pando::tile {

constinit const StepRow step_drop_code = {
    .name = "drop_code",
    .text = "drop code $a",
    .kind = "drop code",
    .a = Names::function,
    .work = Work::little,
    .is_observed = true,
    .perform = [](StepMachine& machine, const Program&, const Instruction& in) {
      machine.set_loaded(FunctionId(in.a), false);
    },
};

}  // namespace pando::tile
