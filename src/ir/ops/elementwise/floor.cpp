#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_floor;
constexpr OpRow op_floor = checked({
    .name = "floor",
    .doc = "The largest whole number that is not above the element. NaN stays NaN.",
    .signature = "floor(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::floor(x); }),
    .differentiable = Differentiable::zero,
    .samples = kinked_unary_samples,
    .elementwise = true,
    .popart_type = "Floor",
});

}  // namespace pando::ir
