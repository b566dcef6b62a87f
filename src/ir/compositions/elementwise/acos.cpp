#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_acos;
constexpr Composition composition_acos = {
    .name = "acos",
    .doc = "The arccosine, in radians; NaN outside -1 to 1.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {((1.0 - x) * (1.0 + x)).op("sqrt").op("atan2", x)};
    },
};

}  // namespace pando::ir
