#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_max;
constexpr Operator onnx_max = {
    .signature = "Max(data_0...) -> result",
    .rule = folded<"maximum">,
};

}  // namespace pando::onnx
