#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_expand;
constexpr Operator onnx_expand = {
    .signature = "Expand(input, shape) -> output",
    .rule =
        [](Context& c) {
          Ints to = c.integers(1);
          const Shape in = c.shape_of(0);
          while (to.size() < in.size()) to.insert(to.begin(), 1);
          for (std::size_t d = 0; d < in.size(); ++d) {
            std::int64_t& t = to[to.size() - in.size() + d];
            if (t == 1) t = in[d];
          }
          c.check_shape(to);
          c.give(c.op("expand", {c.operand(0)}, {{"shape", to}}));
        },
};

}  // namespace pando::onnx
