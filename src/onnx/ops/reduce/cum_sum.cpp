#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_cum_sum;
constexpr Operator onnx_cum_sum = {
    .signature = "CumSum(x, axis; exclusive: int, reverse: int) -> y",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis_in(c.integer(1), c.rank_of(0));
          c.give(c.composition("cumulative", {c.operand(0)},
                               {{"axis", axis},
                                {"operation", std::string("add")},
                                {"exclusive", std::int64_t{c.flag("exclusive", false)}},
                                {"reverse", std::int64_t{c.flag("reverse", false)}}}));
        },
};

}  // namespace pando::onnx
