#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_silu;
constexpr Composition composition_silu = {
    .name = "silu",
    .doc = "x sigmoid(alpha x); alpha is 1 without it.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const double alpha = c.attributes.number("alpha", 1);
      if (alpha == 1) return {x.op("swish")};
      return {x * (x * alpha).op("sigmoid")};
    },
};

}  // namespace pando::ir
