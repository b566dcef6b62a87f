#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_floor;
constexpr Operator onnx_floor = {
    .signature = "Floor(X) -> Y",
    .rule = row<"floor">,
};

}  // namespace pando::onnx
