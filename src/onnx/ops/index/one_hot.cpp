#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_one_hot;
constexpr Operator onnx_one_hot = {
    .signature = "OneHot(indices, depth, values; axis: int) -> output",
    .rule =
        [](Context& c) {
          const double wanted = c.number(1);
          if (!(wanted >= 1 && wanted <= 1 << 30)) c.reject(fmt::format("a depth of {}", wanted));
          const auto depth = static_cast<std::int64_t>(wanted);
          const std::int64_t axis = c.axis(-1, c.rank_of(0) + 1);
          c.give(c.op("onehot", {c.from_start(c.operand(0), depth), c.operand(2)}, {{"num_classes", depth}, {"axis", axis}}));
        },
};

}  // namespace pando::onnx
