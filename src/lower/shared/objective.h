// What plans of the op libraries spare, as the session says.
#pragma once

#include "lower/lowering.h"

namespace pando::lower {

inline bool plans_for_cycles(const Lowering& lowering) { return lowering.options().settings.text("plan_objective") == "cycles"; }

}  // namespace pando::lower
