#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_tan;
constexpr Composition composition_tan = {
    .name = "tan",
    .doc = "The tangent, of radians.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x.op("sin") / x.op("cos")};
    },
};

}  // namespace pando::ir
