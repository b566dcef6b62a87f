#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_mean;
constexpr Operator onnx_mean = {
    .signature = "Mean(data_0...) -> mean",
    .rule =
        [](Context& c) {
          ValueId v = c.operand(0);
          for (std::size_t i = 1; i < c.operands(); ++i) v = c.op("add", {v, c.operand(i)});
          c.give(c.op("mul", {v, c.scalar(c.dtype(v), 1.0 / static_cast<double>(c.operands()))}));
        },
};

}  // namespace pando::onnx
