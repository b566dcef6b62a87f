#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_thresholded_relu;
constexpr Operator onnx_thresholded_relu = {
    .signature = "ThresholdedRelu(X; alpha: float) -> Y",
    .rule = composed<"thresholded_relu">,
};

}  // namespace pando::onnx
