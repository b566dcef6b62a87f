#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_swish;
constexpr OpRow op_swish = checked({
    .name = "swish",
    .doc = "x sigmoid(x), element by element.",
    .signature = "swish(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return x / (1 + std::exp(-x)); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("swish_grad", {g.operand(0), g.grad()})); },
    .samples = unary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "Swish",
    .popart_in_place_type = "SwishInplace",
});

}  // namespace pando::ir
