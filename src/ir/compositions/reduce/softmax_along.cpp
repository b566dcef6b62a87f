#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_softmax_along;
constexpr Composition composition_softmax_along = {
    .name = "softmax_along",
    .doc = "e^x over its sum along one axis.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const std::int64_t axis = c.attributes.integer("axis"), last = w.rank(c.operand()) - 1;
      if (axis == last) return {w.op("softmax", {c.operand()}, {{"axis", axis}})};
      Ints swapped;
      for (std::int64_t d = 0; d <= last; ++d) swapped.push_back(d == axis ? last : d == last ? axis : d);
      return {w.transpose(w.op("softmax", {w.transpose(c.operand(), swapped)}, {{"axis", last}}), swapped)};
    },
};

}  // namespace pando::ir
