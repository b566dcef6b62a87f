#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_mish;
constexpr Composition composition_mish = {
    .name = "mish",
    .doc = "x tanh(log(1 + e^x)).",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x.op("mul", formula(w, compose(w, "softplus", {x})).op("tanh"))};
    },
};

}  // namespace pando::ir
