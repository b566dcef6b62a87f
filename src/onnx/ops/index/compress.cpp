#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_compress;
constexpr Operator onnx_compress = {
    .signature = "Compress(input, condition; axis: int) -> output",
    .rule =
        [](Context& c) {
          const HostTensor& condition = c.data(1);
          ValueId x = c.operand(0);
          std::int64_t axis = 0;
          if (c.has("axis")) {
            axis = c.axis(0, c.rank_of(0));
          } else {
            x = c.reshape(x, {ir::elements_of(c.shape_of(0))});
          }
          const std::int64_t n = c.shape(x)[static_cast<std::size_t>(axis)];
          if (condition.shape().size() != 1 || condition.elements() > n)
            c.reject(fmt::format("a condition of shape {} for {} elements", ir::to_string(condition.shape()), n));
          Ints kept;
          for (std::int64_t i = 0; i < condition.elements(); ++i) {
            if (condition.integer(i) != 0) kept.push_back(i);
          }
          const ValueId v = c.composition("take", {x}, {{"indices", kept}, {"axis", axis}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
    .limits = "conditions that are not known when the model is read",
};

}  // namespace pando::onnx
