#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_hardmax;
constexpr Operator onnx_hardmax = {
    .signature = "Hardmax(input; axis: int) -> output",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0);
          // Before opset 13 all dimensions from the axis on are one.
          const std::int64_t axis = c.axis(c.opset >= 13 ? -1 : 1, shape.size(), c.opset < 13);
          ValueId x = c.operand(0);
          std::int64_t along = axis;
          if (c.opset < 13) {
            const auto middle = shape.begin() + static_cast<std::ptrdiff_t>(axis);
            x = c.reshape(x, {ir::elements_of(Shape(shape.begin(), middle)), ir::elements_of(Shape(middle, shape.end()))});
            along = 1;
          }
          const DType dtype = c.dtype(x);
          const ValueId place = c.op("argmax", {x}, {{"dim", along}, {"keepdim", false}});
          const ValueId values = c.constant(HostTensor::of_floats(dtype, {2}, std::vector<double>{0, 1}));
          c.give(c.reshape(c.op("onehot", {place, values}, {{"num_classes", c.shape(x)[static_cast<std::size_t>(along)]}, {"axis", along}}),
                           shape));
        },
};

}  // namespace pando::onnx
