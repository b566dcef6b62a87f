#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_elu;
constexpr Composition composition_elu = {
    .name = "elu",
    .doc = "x where x > 0, else alpha (e^x - 1); alpha is 1 without it.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const auto below = x.number(c.attributes.number("alpha", 1)) * x.op("minimum", x.number(0)).op("expm1");
      return {select(w, x.op("greater", x.number(0)), x, below)};
    },
};

}  // namespace pando::ir
