#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_round;
constexpr Operator onnx_round = {
    .signature = "Round(X) -> Y",
    .rule = row<"round">,
};

}  // namespace pando::onnx
