#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_gather;
constexpr Operator onnx_gather = {
    .signature = "Gather(data, indices; axis: int) -> output",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(0, c.rank_of(0)), n = c.shape_of(0)[static_cast<std::size_t>(axis)];
          ValueId at;
          if (c.known[1]) {
            HostTensor indices = c.known[1]->converted(DType::int64);
            for (std::int64_t i = 0; i < indices.elements(); ++i) {
              const std::int64_t index = indices.integer(i);
              if (index < -n || index >= n) c.reject(fmt::format("index {} of an axis of {} elements", index, n));
              if (index < 0) indices.set_integer(i, index + n);
            }
            at = c.constant(indices.converted(DType::int32));
          } else {
            at = c.from_start(c.operand(1), n);
          }
          c.give(c.op("gather", {c.operand(0), at}, {{"axis", axis}}));
        },
};

}  // namespace pando::onnx
