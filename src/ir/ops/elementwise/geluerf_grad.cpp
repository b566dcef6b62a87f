#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>
#include <numbers>

namespace pando::ir {

namespace {

// Beyond it the density is 0; powers of larger numbers overflow halves.
constexpr double kDensityEnd = 16;
// 1 / sqrt(2 pi)
constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

}  // namespace

extern const OpRow op_geluerf_grad;
constexpr OpRow op_geluerf_grad = checked({
    .name = "geluerf_grad",
    .doc = "dy times the derivative of geluerf at x.",
    .operands = {{{"x", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double x, double dy) {
      // At infinity the density's part is its limit, 0.
      const double density = std::isinf(x) ? 0 : x * kDensity * std::exp(-0.5 * x * x);
      return dy * (0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + density);
    }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto x = formula(g, g.operand(0)), dy = formula(g, g.operand(1)), d = formula(g, g.grad());
      if (g.wants(1)) g.give(1, g.op("geluerf_grad", {x, d}));
      if (!g.wants(0)) return;
      const auto near = x.op("clip", Attributes{{"min", -kDensityEnd}, {"max", kDensityEnd}});
      const auto xx = near * near;
      g.give(0, d * dy * ((xx * -0.5).op("exp") * kDensity * (2.0 - xx)));
    },
    .expand = [](Expansion& e) {
      const auto x = formula(e, e.operand(0));
      const auto integral = ((x * (1 / std::numbers::sqrt2)).op("erf") + 1.0) * 0.5;
      const auto near = x.op("clip", Attributes{{"min", -kDensityEnd}, {"max", kDensityEnd}});
      e.result(formula(e, e.operand(1)) * (integral + near * ((near * near * -0.5).op("exp") * kDensity)));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "GeluErfGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
