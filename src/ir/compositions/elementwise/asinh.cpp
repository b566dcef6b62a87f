#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_asinh;
constexpr Composition composition_asinh = {
    .name = "asinh",
    .doc = "The inverse of the hyperbolic sine.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const auto a = x.op("abs");
      return {x.op("sign") * (a + a * a / ((a * a + 1.0).op("sqrt") + 1.0)).op("log1p")};
    },
};

}  // namespace pando::ir
