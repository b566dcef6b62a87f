#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_sigmoid;
constexpr OpRow op_sigmoid = checked({
    .name = "sigmoid",
    .doc = "1 / (1 + e^-x), element by element.",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) { return 1 / (1 + std::exp(-x)); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("sigmoid_grad", {g.result(), g.grad()})); },
    .samples = unary_samples,
    .elementwise = true,
    .popart_type = "Sigmoid",
});

}  // namespace pando::ir
