#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_sinh;
constexpr Composition composition_sinh = {
    .name = "sinh",
    .doc = "The hyperbolic sine.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      // Of e^|x| - 1, which does not lose what is close to 0.
      const auto u = x.op("abs").op("expm1");
      return {x.op("sign") * ((u + u / (u + 1.0)) * 0.5)};
    },
};

}  // namespace pando::ir
