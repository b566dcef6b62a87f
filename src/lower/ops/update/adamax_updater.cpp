#include "lower/adam.h"

namespace pando::lower {

extern const Row lower_adamax_updater;
constexpr Row lower_adamax_updater = {.name = "adamax_updater", .lower = [](OpLowering& o) { update_by_adam(o, true); }};

}  // namespace pando::lower
