#include "ir/construction/composition.h"

#include <string>

namespace pando::ir {

extern const Composition composition_cumulative;
constexpr Composition composition_cumulative = {
    .name = "cumulative",
    .doc =
        "Sums or products (operation: add or mul) of the elements up to each one along an axis; exclusive: without it; "
        "reverse: from the end.",
    .operands = {{{"x", any_numeric}}},
    .attributes = {{{"axis", AttributeKind::integer},
                    {"operation", AttributeKind::text},
                    {"exclusive", AttributeKind::integer, false},
                    {"reverse", AttributeKind::integer, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const std::int64_t axis = c.attributes.integer("axis");
      const auto a = static_cast<std::size_t>(axis);
      const std::string& operation = c.attributes.text("operation");
      const bool reverse = c.attributes.integer("reverse") != 0;
      const std::int64_t n = w.shape(c.operand())[a];
      if (n == 0) return {c.operand()};
      const auto turned = [&](ValueId v) { return reverse ? w.slice(v, axis, n - 1, n, -1) : v; };
      ValueId v = turned(c.operand());
      if (c.attributes.integer("exclusive") != 0) {
        Shape first = w.shape(v);
        first[a] = 1;
        const ValueId start = w.full(w.dtype(v), first, operation == "add" ? 0 : 1);
        v = n == 1 ? start : w.concat({start, w.slice(v, axis, 0, n - 1)}, axis);
      }
      if (operation == "add" && is_floating(w.dtype(v))) return {turned(w.op("cumsum", {v}, {{"dim", axis}}))};
      // In doubling steps: each element gets what ends `step` before it.
      for (std::int64_t step = 1; step < n; step *= 2) {
        const ValueId later = w.op(operation, {w.slice(v, axis, step, n - step), w.slice(v, axis, 0, n - step)});
        v = w.concat({w.slice(v, axis, 0, step), later}, axis);
      }
      return {turned(v)};
    },
};

}  // namespace pando::ir
