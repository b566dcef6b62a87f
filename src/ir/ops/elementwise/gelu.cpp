#include "ir/rows/define.h"

#include <cmath>
#include <numbers>

namespace pando::ir {

extern const OpRow op_gelu;
constexpr OpRow op_gelu = checked({
    .name = "gelu",
    .doc = "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: the usual approximation of x times the normal distribution's "
           "integral.",
    .signature = "gelu(t: Tensor) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .infer = same_as_first,
    .reference = map_unary([](double x) {
      constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
      const double factor = 1 + std::tanh(kScale * (x + 0.044715 * x * x * x));
      return factor == 0 ? -0.0 : 0.5 * x * factor;  // of minus infinity, too, as on tiles
    }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("gelu_grad", {g.operand(0), g.grad()})); },
    .samples = unary_samples,
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "Gelu",
    .popart_in_place_type = "GeluInplace",
});

}  // namespace pando::ir
