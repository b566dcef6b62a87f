#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_where;
constexpr Operator onnx_where = {
    .signature = "Where(condition, X, Y) -> output",
    .rule = row<"where">,
};

}  // namespace pando::onnx
