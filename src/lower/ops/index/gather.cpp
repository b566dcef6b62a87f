#include "lower/shared/index.h"

namespace pando::lower {

extern const Row lower_gather;
constexpr Row lower_gather = {.name = "gather", .makes_tensor = true, .lower = gather_slices, .layout = gather_layout};

}  // namespace pando::lower
