#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_asin;
constexpr Composition composition_asin = {
    .name = "asin",
    .doc = "The arcsine, in radians; NaN outside -1 to 1.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x.op("atan2", ((1.0 - x) * (1.0 + x)).op("sqrt"))};
    },
};

}  // namespace pando::ir
