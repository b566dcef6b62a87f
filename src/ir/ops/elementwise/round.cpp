#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_round;
constexpr OpRow op_round = checked({
    .name = "round",
    .doc = "The nearest whole number; of two that are equally near the even one. NaN stays NaN.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::nearbyint(x); }),
    .differentiable = Differentiable::zero,
    .samples = kinked_unary_samples,
    .elementwise = true,
    .popart_type = "Round",
});

}  // namespace pando::ir
