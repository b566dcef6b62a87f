#include "lower/shared/index.h"

namespace pando::lower {

extern const Row lower_scatter_reduce;
constexpr Row lower_scatter_reduce = {.name = "scatter_reduce", .lower = reduce_scattered};

}  // namespace pando::lower
