#include "lower/adam.h"

namespace pando::lower {

extern const Row lower_lamb_updater;
constexpr Row lower_lamb_updater = {.name = "lamb_updater", .lower = [](OpLowering& o) { update_by_adam(o, false); }};

}  // namespace pando::lower
