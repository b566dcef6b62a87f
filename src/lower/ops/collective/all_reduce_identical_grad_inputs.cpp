#include "lower/shared/all_reduce.h"

namespace pando::lower {

extern const Row lower_all_reduce_identical_grad_inputs;
constexpr Row lower_all_reduce_identical_grad_inputs = {.name = "all_reduce_identical_grad_inputs", .lower = reduce_over_devices};

}  // namespace pando::lower
