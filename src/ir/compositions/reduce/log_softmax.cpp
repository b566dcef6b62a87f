#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_log_softmax;
constexpr Composition composition_log_softmax = {
    .name = "log_softmax",
    .doc = "The logarithm of softmax along one axis.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const ValueId x = c.operand();
      const Ints axes{c.attributes.integer("axis")};
      // Shifted by the largest element, as differences of large numbers lose what is small.
      const ValueId shifted = w.op("sub", {x, w.op("detach", {w.reduce("max", x, axes, true)})});
      return {w.op("sub", {shifted, w.reduce("logsumexp", shifted, axes, true)})};
    },
};

}  // namespace pando::ir
