#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_hard_sigmoid;
constexpr Composition composition_hard_sigmoid = {
    .name = "hard_sigmoid",
    .doc = "alpha x + beta, clipped to 0 and 1; 0.2 and 0.5 without them.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}, {"beta", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {(x * c.attributes.number("alpha", 0.2) + c.attributes.number("beta", 0.5)).op("clip", {{"min", 0.0}, {"max", 1.0}})};
    },
};

}  // namespace pando::ir
