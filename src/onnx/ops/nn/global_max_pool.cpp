#include "onnx/operator.h"
#include "onnx/rules/windows/pools.h"

namespace pando::onnx {

extern const Operator onnx_global_max_pool;
constexpr Operator onnx_global_max_pool = {
    .signature = "GlobalMaxPool(X) -> Y",
    .rule = [](Context& c) { pool_globally(c, "max"); },
};

}  // namespace pando::onnx
