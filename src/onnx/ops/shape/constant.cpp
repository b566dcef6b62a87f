#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_constant;
constexpr Operator onnx_constant = {
    .signature =
        "Constant(; value: tensor, sparse_value: sparse, value_float: float, value_floats: floats, value_int: int, "
        "value_ints: ints) -> output",
    .rule =
        [](Context& c) {
          if (c.node.attributes.size() != 1)
            c.reject(fmt::format("it has {} attributes; exactly one says the value", c.node.attributes.size()));
          const Attribute& a = c.node.attributes.begin()->second;
          switch (a.type) {
            case AttributeType::integer: return c.give_known(0, HostTensor::of_ints(DType::int64, {}, std::vector{a.integer}));
            case AttributeType::real: return c.give_known(0, HostTensor::filled(DType::float32, {}, static_cast<double>(a.real)));
            case AttributeType::integers:
              return c.give_known(0, HostTensor::of_ints(DType::int64, {static_cast<std::int64_t>(a.integers.size())}, a.integers));
            case AttributeType::reals: {
              const std::vector<double> reals(a.reals.begin(), a.reals.end());
              return c.give_known(0, HostTensor::of_floats(DType::float32, {static_cast<std::int64_t>(reals.size())}, reals));
            }
            default: return c.give_known(0, *a.tensor);
          }
        },
    .limits = "texts",
};

}  // namespace pando::onnx
