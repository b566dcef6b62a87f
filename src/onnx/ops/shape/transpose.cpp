#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_transpose;
constexpr Operator onnx_transpose = {
    .signature = "Transpose(data; perm: ints) -> transposed",
    .rule =
        [](Context& c) {
          const std::size_t rank = c.rank_of(0);
          Ints order;
          if (c.has("perm")) {
            order = *c.node.integers("perm");
            Ints sorted = order;
            std::sort(sorted.begin(), sorted.end());
            bool whole = sorted.size() == rank;
            for (std::size_t d = 0; whole && d < rank; ++d) whole = sorted[d] == static_cast<std::int64_t>(d);
            if (!whole) c.reject(fmt::format("attribute 'perm' {} does not order {} dimensions", ir::to_string(order), rank));
          } else {
            for (std::size_t d = rank; d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
          }
          c.give(c.op("transpose", {c.operand(0)}, {{"permutation", order}}));
        },
};

}  // namespace pando::onnx
