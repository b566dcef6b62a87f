#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_min;
constexpr Operator onnx_min = {
    .signature = "Min(data_0...) -> result",
    .rule = folded<"minimum">,
};

}  // namespace pando::onnx
