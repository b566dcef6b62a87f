#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_celu;
constexpr Composition composition_celu = {
    .name = "celu",
    .doc = "x where x > 0, else alpha (e^(x / alpha) - 1); alpha is 1 without it.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const double alpha = c.attributes.number("alpha", 1);
      const auto below = (x.op("minimum", x.number(0)) / alpha).op("expm1") * alpha;
      return {select(w, x.op("greater", x.number(0)), x, below)};
    },
};

}  // namespace pando::ir
