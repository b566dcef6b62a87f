#include "lower/shared/all_reduce.h"

namespace pando::lower {

extern const Row lower_all_reduce;
constexpr Row lower_all_reduce = {.name = "all_reduce", .lower = reduce_over_devices};

}  // namespace pando::lower
