#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_cosh;
constexpr Composition composition_cosh = {
    .name = "cosh",
    .doc = "The hyperbolic cosine.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto e = formula(w, c.operand()).op("exp");
      return {(e + e.op("reciprocal")) * 0.5};
    },
};

}  // namespace pando::ir
