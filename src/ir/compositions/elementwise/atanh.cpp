#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_atanh;
constexpr Composition composition_atanh = {
    .name = "atanh",
    .doc = "The inverse of the hyperbolic tangent; NaN outside -1 to 1.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {(x.op("log1p") - (-x).op("log1p")) * 0.5};
    },
};

}  // namespace pando::ir
