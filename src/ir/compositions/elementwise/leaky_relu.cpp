#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_leaky_relu;
constexpr Composition composition_leaky_relu = {
    .name = "leaky_relu",
    .doc = "x where x >= 0, else alpha x; alpha is 0.01 without it.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {select(w, x.op("less", x.number(0)), x * c.attributes.number("alpha", 0.01), x)};
    },
};

}  // namespace pando::ir
