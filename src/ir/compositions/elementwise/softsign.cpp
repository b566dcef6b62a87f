#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_softsign;
constexpr Composition composition_softsign = {
    .name = "softsign",
    .doc = "x / (1 + |x|).",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x / (x.op("abs") + 1.0)};
    },
};

}  // namespace pando::ir
