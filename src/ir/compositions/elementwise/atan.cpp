#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_atan;
constexpr Composition composition_atan = {
    .name = "atan",
    .doc = "The arctangent, in radians.",
    .operands = {{{"x", any_floating}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {x.op("atan2", x.number(1))};
    },
};

}  // namespace pando::ir
