#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_concat;
constexpr Operator onnx_concat = {
    .signature = "Concat(inputs...; axis!: int) -> concat_result",
    .rule =
        [](Context& c) {
          Values all;
          const std::int64_t axis = c.axis(0, c.rank_of(0));
          for (std::size_t i = 0; i < c.operands(); ++i) {
            if (c.rank_of(i) != c.rank_of(0)) c.reject(fmt::format("operands of {} and {} dimensions", c.rank_of(0), c.rank_of(i)));
            all.push_back(c.operand(i));
          }
          c.give(c.ops("concat", all, {{"axis", axis}})[0]);
        },
};

}  // namespace pando::onnx
