#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_trilu;
constexpr Operator onnx_trilu = {
    .signature = "Trilu(input, k?; upper: int) -> output",
    .rule =
        [](Context& c) {
          if (c.rank_of(0) < 2) c.reject("operand 0 has no rows and columns");
          const std::int64_t k = c.has(1) ? std::clamp<std::int64_t>(c.integer(1), -(std::int64_t{1} << 40), std::int64_t{1} << 40) : 0;
          const ValueId v = c.composition("triangle", {c.operand(0)}, {{"k", k}, {"upper", c.flag("upper", true)}});
          c.give(v == c.operand(0) ? c.op("identity", {v}) : v);
        },
};

}  // namespace pando::onnx
