#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_flatten;
constexpr Operator onnx_flatten = {
    .signature = "Flatten(input; axis: int) -> output",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0);
          const auto middle = in.begin() + static_cast<std::ptrdiff_t>(c.axis(1, in.size(), true));
          c.give(c.op("reshape", {c.operand(0)},
                      {{"shape", Ints{ir::elements_of(Shape(in.begin(), middle)), ir::elements_of(Shape(middle, in.end()))}}}));
        },
};

}  // namespace pando::onnx
