#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_greater_equal;
constexpr Composition composition_greater_equal = {
    .name = "greater_equal",
    .doc = "true where lhs >= rhs. With NumPy's broadcasting.",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      return {w.op("logical_or", {w.op("greater", {c.operand(0), c.operand(1)}), w.op("equal", {c.operand(0), c.operand(1)})})};
    },
};

}  // namespace pando::ir
