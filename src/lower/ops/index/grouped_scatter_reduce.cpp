#include "lower/shared/index.h"

namespace pando::lower {

extern const Row lower_grouped_scatter_reduce;
constexpr Row lower_grouped_scatter_reduce = {.name = "grouped_scatter_reduce", .lower = reduce_scattered};

}  // namespace pando::lower
