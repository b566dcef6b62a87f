#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_log;
constexpr Operator onnx_log = {
    .signature = "Log(X) -> Y",
    .rule = row<"log">,
};

}  // namespace pando::onnx
