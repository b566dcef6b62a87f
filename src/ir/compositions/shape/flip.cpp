#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_flip;
constexpr Composition composition_flip = {
    .name = "flip",
    .doc = "The elements of the axes in reverse order.",
    .operands = {{{"x", any_type}}},
    .attributes = {{{"axes", AttributeKind::ints}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      ValueId v = c.operand();
      for (std::int64_t a : c.attributes.ints("axes")) {
        const std::int64_t n = w.shape(v)[static_cast<std::size_t>(a)];
        v = w.slice(v, a, n - 1, n, -1);
      }
      return {v};
    },
};

}  // namespace pando::ir
