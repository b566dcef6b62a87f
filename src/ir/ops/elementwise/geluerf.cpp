#include "ir/rows/define.h"

#include <cmath>
#include <numbers>

namespace pando::ir {

extern const OpRow op_geluerf;
constexpr OpRow op_geluerf = checked({
    .name = "geluerf",
    .doc = "x (1 + erf(x / sqrt(2))) / 2: x times the normal distribution's integral.",
    .signature = "geluerf(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2)); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("geluerf_grad", {g.operand(0), g.grad()})); },
    .samples = unary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "GeluErf",
    .popart_in_place_type = "GeluErfInplace",
});

}  // namespace pando::ir
