#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_thresholded_relu;
constexpr Composition composition_thresholded_relu = {
    .name = "thresholded_relu",
    .doc = "x where x > alpha, else 0; alpha is 1 without it.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {select(w, x.op("greater", x.number(c.attributes.number("alpha", 1))), x, x.number(0))};
    },
};

}  // namespace pando::ir
