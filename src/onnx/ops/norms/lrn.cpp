#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_lrn;
constexpr Operator onnx_lrn = {
    .signature = "LRN(X; alpha: float, beta: float, bias: float, size!: int) -> Y",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0);
          if (shape.size() < 2) c.reject(fmt::format("data of {} dimensions; a batch and channels are expected", shape.size()));
          const std::int64_t size = c.ranged("size", 1, 1, 1 << 20), before = (size - 1) / 2, channels = shape[1];
          const ValueId x = c.operand(0);
          Ints pads(2 * shape.size(), 0);
          pads[1] = before;
          pads[shape.size() + 1] = size - 1 - before;
          const ValueId padded = c.composition("pad", {c.op("mul", {x, x})}, {{"pads", pads}});
          // Sums of `size` channels, of sums up to each one: few ops for any size.
          ValueId sum = c.slice(padded, 1, 0, channels);
          if (size > 64) c.reject(fmt::format("attribute 'size' is {}; 64 is the most", size));
          for (std::int64_t i = 1; i < size; ++i) sum = c.op("add", {sum, c.slice(padded, 1, i, channels)});
          const DType t = c.dtype(x);
          const ValueId base = c.op(
              "add", {c.op("mul", {sum, c.scalar(t, c.real("alpha", 1e-4) / static_cast<double>(size))}), c.scalar(t, c.real("bias", 1))});
          c.give(c.op("div", {x, c.op("pow", {base, c.scalar(t, c.real("beta", 0.75))})}));
        },
};

}  // namespace pando::onnx
