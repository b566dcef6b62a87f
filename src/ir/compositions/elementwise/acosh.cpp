#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_acosh;
constexpr Composition composition_acosh = {
    .name = "acosh",
    .doc = "The inverse of the hyperbolic cosine; NaN below 1.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto t = formula(w, c.operand()) - 1.0;
      return {(t + (t * (t + 2.0)).op("sqrt")).op("log1p")};
    },
};

}  // namespace pando::ir
