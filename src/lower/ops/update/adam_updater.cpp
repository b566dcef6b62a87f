#include "lower/adam.h"

namespace pando::lower {

extern const Row lower_adam_updater;
constexpr Row lower_adam_updater = {.name = "adam_updater", .lower = [](OpLowering& o) { update_by_adam(o, false); }};

}  // namespace pando::lower
