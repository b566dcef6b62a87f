#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_hard_swish;
constexpr Composition composition_hard_swish = {
    .name = "hard_swish",
    .doc = "x (x / 6 + 0.5), the factor clipped to 0 and 1.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x * (x / 6.0 + 0.5).op("clip", {{"min", 0.0}, {"max", 1.0}})};
    },
};

}  // namespace pando::ir
