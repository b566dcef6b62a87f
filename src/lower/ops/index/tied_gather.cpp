#include "lower/shared/index.h"

namespace pando::lower {

extern const Row lower_tied_gather;
constexpr Row lower_tied_gather = {.name = "tied_gather", .makes_tensor = true, .lower = gather_slices, .layout = gather_layout};

}  // namespace pando::lower
