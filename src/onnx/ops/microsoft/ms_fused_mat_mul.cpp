#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_ms_fused_mat_mul;
constexpr Operator onnx_ms_fused_mat_mul = {
    .signature =
        "com.microsoft.FusedMatMul(A, B; alpha: float, transA: int, transB: int, transBatchA: int, transBatchB: int) "
        "-> Y",
    .rule =
        [](Context& c) {
          if (c.flag("transBatchA", false) || c.flag("transBatchB", false)) c.reject("batches that are turned");
          const auto turned = [&](std::size_t i, const char* name) {
            if (!c.flag(name, false)) return c.operand(i);
            Ints order;
            for (std::size_t d = 0; d < c.rank_of(i); ++d) order.push_back(static_cast<std::int64_t>(d));
            if (order.size() > 1) std::swap(order[order.size() - 1], order[order.size() - 2]);
            return c.transpose(c.operand(i), order);
          };
          const ValueId y = c.op("matmul", {turned(0, "transA"), turned(1, "transB")});
          const double alpha = c.real("alpha", 1);
          c.give(alpha == 1 ? y : c.op("mul", {y, c.scalar(c.dtype(y), alpha)}));
        },
};

}  // namespace pando::onnx
