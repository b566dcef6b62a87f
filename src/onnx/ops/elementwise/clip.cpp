#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_clip;
constexpr Operator onnx_clip = {
    .signature = "Clip(input, min?, max?; min: float, max: float) -> output",
    .rule =
        [](Context& c) {
          // Bounds that are known become attributes, unless they are of a type whose numbers a float does not hold.
          const bool floats = ir::is_floating(c.dtype_of(0));
          ValueId x = c.operand(0);
          Attributes bounds;
          for (std::size_t i : {1u, 2u}) {
            const char* const name = i == 1 ? "min" : "max";
            if (c.has(name)) bounds.set(name, c.real(name, 0));
            if (!c.has(i)) continue;
            if (c.known[i] && floats && c.known[i]->elements() == 1 && !(c.has(1) && c.has(2) && !(c.known[1] && c.known[2]))) {
              bounds.set(name, c.number(i));
            } else {
              x = c.op(i == 1 ? "maximum" : "minimum", {x, c.reshape(c.operand(i), {})});
            }
          }
          // Where the bounds cross, the upper one counts.
          if (bounds.has("min") && bounds.has("max") && bounds.number("min") > bounds.number("max"))
            bounds.set("min", bounds.number("max"));
          c.give(bounds.empty() && c.has(0) ? (x == c.operand(0) ? c.op("identity", {x}) : x) : c.op("clip", {x}, bounds));
        },
};

}  // namespace pando::onnx
