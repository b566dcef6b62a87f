#include "lower/shared/adam.h"

namespace pando::lower {

extern const Row lower_lamb_updater;
constexpr Row lower_lamb_updater = {.name = "lamb_updater", .formula = [](OpLowering& o, Formula& f) { return adam_formula(o, f, false); }};

}  // namespace pando::lower
