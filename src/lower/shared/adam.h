// The updaters of Adam, Lamb and AdaMax.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// `max_norm`: AdaMax's, whose second moment is a maximum.
Any adam_formula(OpLowering& o, Formula& f, bool max_norm);

}  // namespace pando::lower
