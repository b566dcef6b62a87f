// What plans of the op libraries spare, as the session says.
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

inline bool plans_for_cycles(const Settings& settings) { return settings.text("plan_objective") == "cycles"; }

}  // namespace pando::lower
