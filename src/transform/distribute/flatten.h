// One graph out of a main graph and what it calls.
#pragma once

#include "transform/distribute/program.h"

namespace pando::transform {

// Writes the ops of called graphs in place of their calls, in any depth; they are of the call's phase and layer. Other graphs are left out, but those
// that loops and branches carry. Sums of several gradients and means are written so that they can be cut: mean as a sum and a factor.
Program flatten(const Program& program);

}  // namespace pando::transform
