#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_ceil;
constexpr OpRow op_ceil = checked({
    .name = "ceil",
    .doc = "The least whole number that is not below the element. NaN stays NaN.",
    .signature = "ceil(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::ceil(x); }),
    .differentiable = Differentiable::zero,
    .samples = kinked_unary_samples,
    .elementwise = true,
    .popart_type = "Ceil",
});

}  // namespace pando::ir
