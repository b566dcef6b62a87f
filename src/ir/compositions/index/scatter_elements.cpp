#include "ir/construction/composition.h"
#include "ir/error.h"

#include <string>

namespace pando::ir {

namespace {

// One update of each place at a time: those of one coordinate along the axis never meet.
ValueId multiplied(Writer& w, ValueId x, ValueId at, ValueId updates, std::int64_t axis) {
  const std::int64_t n = w.shape(at)[static_cast<std::size_t>(axis)];
  if (n > 256) reject(ErrorClass::value, "scatter-mul", "{} products along axis {}; 256 are the most", n, axis);
  for (std::int64_t i = 0; i < n; ++i) {
    const ValueId here = w.slice(at, axis, i, 1);
    const ValueId now = w.op("gather_elements", {x, here}, {{"axis", axis}});
    x = w.op("scatter", {x, here, w.op("mul", {now, w.slice(updates, axis, i, 1)})}, {{"axis", axis}});
  }
  return x;
}

}  // namespace

extern const Composition composition_scatter_elements;
constexpr Composition composition_scatter_elements = {
    .name = "scatter_elements",
    .doc =
        "A copy of x in which updates replace elements or are combined with them: the update at some position goes to "
        "that position, with its index in place of the coordinate along the axis. reduction: none, add, mul, max or "
        "min. Negative indices count from the end.",
    .operands = {{{"x", any_type}, {"indices", any_integer}, {"updates", any_type}}},
    .attributes = {{{"axis", AttributeKind::integer}, {"reduction", AttributeKind::text, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const std::int64_t axis = c.attributes.integer("axis");
      const std::string reduction = c.attributes.has("reduction") ? c.attributes.text("reduction") : "none";
      const Shape shape = w.shape(c.operand(0)), updates = w.shape(c.operand(2));
      if (w.shape(c.operand(1)) != updates)
        reject(ErrorClass::value, "scatter-shapes", "indices of shape {} for updates of {}", to_string(w.shape(c.operand(1))),
               to_string(updates));
      if (elements_of(updates) == 0) return {c.operand(0)};
      const ValueId at = w.from_start(c.operand(1), shape[static_cast<std::size_t>(axis)]);
      if (reduction == "none") return {w.op("scatter", {c.operand(0), at, c.operand(2)}, {{"axis", axis}})};
      if (reduction == "mul") return {multiplied(w, c.operand(0), at, c.operand(2), axis)};
      // What is reduced lies beside the updates: the rest of each other dimension keeps what it has.
      ValueId x = c.operand(0), data = x;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (static_cast<std::int64_t>(d) != axis) data = w.slice(data, static_cast<std::int64_t>(d), 0, updates[d]);
      }
      const ValueId reduced = w.op("scatter_reduce", {c.operand(2), at, data},
                                   {{"reduction", reduction == "add" ? std::string("sum") : reduction},
                                    {"axis", axis},
                                    {"axis_size", shape[static_cast<std::size_t>(axis)]}});
      if (w.shape(data) == shape) return {reduced};
      Ints start, stop, step, axes;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (static_cast<std::int64_t>(d) == axis || updates[d] == shape[d]) continue;
        start.push_back(0);
        stop.push_back(updates[d]);
        step.push_back(1);
        axes.push_back(static_cast<std::int64_t>(d));
      }
      return {w.op("slice_assign", {x, reduced}, {{"start", start}, {"stop", stop}, {"step", step}, {"axis", axes}})};
    },
};

}  // namespace pando::ir
