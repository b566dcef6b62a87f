#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_atan2;
constexpr OpRow op_atan2 = checked({
    .name = "atan2",
    .doc = "The angle in radians, of -pi to pi, between the first axis and the point (rhs, lhs): that of lhs / rhs in the right quadrant. "
           "With NumPy's broadcasting.",
    .operands = {{{"lhs", any_floating}, {"rhs", any_floating}}},
    .infer = broadcast_same_type,
    .reference = map_binary([](double y, double x) { return std::atan2(y, x); }),
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto y = formula(g, g.operand(0)), x = formula(g, g.operand(1)), d = formula(g, g.grad()) / (x * x + y * y);
      if (g.wants(0)) g.give(0, g.reduced_to(d * x, g.operand_type(0).shape));
      if (g.wants(1)) g.give(1, g.reduced_to(-(d * y), g.operand_type(1).shape));
    },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::float32, DType::float16}) {
        for (const auto& [low, high] : {std::pair{0.2, 2.0}, std::pair{-2.0, -0.2}}) {
          Sample s;
          s.operands = {{t, {3, 5}, low, high, {}}, {t, {5}, 0.2, 2, {}}};
          all.push_back(s);
        }
      }
      return all;
    },
    .elementwise = true,
    .popart_type = "Atan2",
});

}  // namespace pando::ir
