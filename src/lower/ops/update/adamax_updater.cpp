#include "lower/shared/adam.h"

namespace pando::lower {

extern const Row lower_adamax_updater;
constexpr Row lower_adamax_updater = {.name = "adamax_updater",
                                      .formula = [](OpLowering& o, Formula& f) { return adam_formula(o, f, true); }};

}  // namespace pando::lower
