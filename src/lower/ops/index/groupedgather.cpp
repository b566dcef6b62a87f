#include "lower/shared/index.h"

namespace pando::lower {

extern const Row lower_groupedgather;
constexpr Row lower_groupedgather = {.name = "groupedgather", .makes_tensor = true, .lower = gather_slices, .layout = gather_layout};

}  // namespace pando::lower
