#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_tanh;
constexpr OpRow op_tanh = checked({
    .name = "tanh",
    .doc = "The hyperbolic tangent, element by element.",
    .signature = "tanh(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return std::tanh(x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("tanh_grad", {g.result(), g.grad()})); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Tanh",
});

}  // namespace pando::ir
