// The updaters of Adam, Lamb and AdaMax.
#pragma once

#include "lower/lowering.h"

namespace pando::lower {

// `max_norm`: AdaMax's, whose second moment is a maximum.
void update_by_adam(OpLowering& o, bool max_norm);

}  // namespace pando::lower
