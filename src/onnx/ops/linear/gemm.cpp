#include "onnx/operator.h"
#include "onnx/rules/products.h"

namespace pando::onnx {

extern const Operator onnx_gemm;
constexpr Operator onnx_gemm = {
    .signature = "Gemm(A, B, C?; alpha: float, beta: float, transA: int, transB: int, broadcast: int) -> Y",
    .rule =
        [](Context& c) {
          const auto turned = [&](std::size_t i, const char* name) {
            if (c.rank_of(i) != 2) c.reject(fmt::format("operand {} has {} dimensions; 2 are expected", i, c.rank_of(i)));
            return c.flag(name, false) ? c.op("transpose", {c.operand(i)}, {{"permutation", Ints{1, 0}}}) : c.operand(i);
          };
          const auto scaled = [&](ValueId v, double by) { return by == 1 ? v : c.op("mul", {v, c.scalar(c.dtype(v), by)}); };
          ValueId y = scaled(exact_matmul(c, turned(0, "transA"), turned(1, "transB")), c.real("alpha", 1));
          c.flag("broadcast", false);
          if (c.has(2)) y = c.op("add", {y, scaled(c.operand(2), c.real("beta", 1))});
          c.give(y);
        },
};

}  // namespace pando::onnx
