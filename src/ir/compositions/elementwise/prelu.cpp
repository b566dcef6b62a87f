#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_prelu;
constexpr Composition composition_prelu = {
    .name = "prelu",
    .doc = "x where x >= 0, else slope x; the slope broadcasts to x.",
    .operands = {{{"x", any_numeric}, {"slope", any_numeric}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      return {select(w, x.op("less", x.number(0)), w.op("mul", {x, c.operand(1)}), x)};
    },
};

}  // namespace pando::ir
