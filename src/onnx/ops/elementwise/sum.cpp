#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_sum;
constexpr Operator onnx_sum = {
    .signature = "Sum(data_0...) -> result",
    .rule = folded<"add">,
};

}  // namespace pando::onnx
