#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_constant_of_shape;
constexpr Operator onnx_constant_of_shape = {
    .signature = "ConstantOfShape(input; value: tensor) -> output",
    .rule =
        [](Context& c) {
          const Ints shape = c.integers(0);
          c.check_shape(shape);
          HostTensor value = HostTensor::filled(DType::float32, {}, 0);
          if (c.has("value")) {
            value = *c.node.attributes.at("value").tensor;
            if (value.elements() != 1) c.reject(fmt::format("attribute 'value' has {} elements; one is expected", value.elements()));
          }
          c.give(c.op("expand", {c.constant(value.reshaped({}))}, {{"shape", shape}}));
        },
};

}  // namespace pando::onnx
