#include "onnx/operator.h"
#include "onnx/rules/windows/pools.h"

namespace pando::onnx {

extern const Operator onnx_global_average_pool;
constexpr Operator onnx_global_average_pool = {
    .signature = "GlobalAveragePool(X) -> Y",
    .rule = [](Context& c) { pool_globally(c, "mean"); },
};

}  // namespace pando::onnx
