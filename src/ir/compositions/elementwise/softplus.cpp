#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_softplus;
constexpr Composition composition_softplus = {
    .name = "softplus",
    .doc = "log(1 + e^x); large elements do not overflow.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x.op("relu") + (-x.op("abs")).op("exp").op("log1p")};
    },
};

}  // namespace pando::ir
