#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pando::ir {

namespace {

// Beyond it tanh is 1 or -1, and the derivative 1 or 0; powers of larger numbers overflow halves.
constexpr double kTanhEnd = 16;
constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;

}  // namespace

extern const OpRow op_gelu_grad;
constexpr OpRow op_gelu_grad = checked({
    .name = "gelu_grad",
    .doc = "dy times the derivative of gelu at x.",
    .operands = {{{"x", any_floating}, {"dy", any_floating}}},
    .infer = infer_nonlinearity_grad,
    .reference = map_binary([](double operand, double dy) {
      const double x = std::clamp(operand, -kTanhEnd, kTanhEnd);  // infinity times 0 would be no number
      const double t = std::tanh(kScale * (x + kCubic * x * x * x));
      return dy * 0.5 * (1 + t + x * (1 - t * t) * kScale * (1 + 3 * kCubic * x * x));
    }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto whole = formula(g, g.operand(0)), dy = formula(g, g.operand(1)), d = formula(g, g.grad());
      if (g.wants(1)) g.give(1, g.op("gelu_grad", {whole, d}));
      if (!g.wants(0)) return;
      const auto x = whole.op("clip", Attributes{{"min", -kTanhEnd}, {"max", kTanhEnd}});
      // With u the argument of tanh and t = tanh u, the second derivative is (1 - t^2) (u' + x (u'' / 2 - t u'^2)).
      const auto xx = x * x;
      const auto t = (x * (xx * kCubic + 1.0) * kScale).op("tanh");
      const auto slope = (xx * (3 * kCubic) + 1.0) * kScale;
      const auto second = (1.0 - t * t) * (slope + x * (x * (3 * kCubic * kScale) - t * slope * slope));
      g.give(0, d * dy * second);
    },
    .expand = [](Expansion& e) {
      const auto x = formula(e, e.operand(0)).op("clip", Attributes{{"min", -kTanhEnd}, {"max", kTanhEnd}});
      const auto xx = x * x;
      const auto t = (x * (xx * kCubic + 1.0) * kScale).op("tanh");
      const auto slope = (xx * (3 * kCubic) + 1.0) * kScale;
      e.result(formula(e, e.operand(1)) * ((t + 1.0 + x * (1.0 - t * t) * slope) * 0.5));
    },
    .samples = nonlinearity_grad_samples,
    .elementwise = true,
    .popart_type = "GeluGrad",
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
