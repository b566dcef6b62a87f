#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_shrink;
constexpr Composition composition_shrink = {
    .name = "shrink",
    .doc = "x + bias below -lambd, x - bias above lambd, else 0; 0 and 0.5 without them.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"bias", AttributeKind::number, false}, {"lambd", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const double bias = c.attributes.number("bias", 0), lambd = c.attributes.number("lambd", 0.5);
      const auto above = select(w, x.op("greater", x.number(lambd)), x - bias, x.number(0));
      return {select(w, x.op("less", x.number(-lambd)), x + bias, above)};
    },
};

}  // namespace pando::ir
