#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

extern const OpRow op_relu;
constexpr OpRow op_relu = checked({
    .name = "relu",
    .doc = "The element where it is positive, else 0. NaN stays NaN.",
    .signature = "relu(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return x < 0 ? 0.0 : x; }, [](std::int64_t x) { return std::max<std::int64_t>(x, 0); });
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("relu_grad", {g.result(), g.grad()})); },
    .samples = kinked_unary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "Relu",
    .popart_in_place_type = "ReluInplace",
});

}  // namespace pando::ir
