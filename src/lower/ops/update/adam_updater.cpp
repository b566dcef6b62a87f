#include "lower/shared/adam.h"

namespace pando::lower {

extern const Row lower_adam_updater;
constexpr Row lower_adam_updater = {.name = "adam_updater", .formula = [](OpLowering& o, Formula& f) { return adam_formula(o, f, false); }};

}  // namespace pando::lower
