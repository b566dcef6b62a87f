#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_max_unpool;
constexpr Operator onnx_max_unpool = {
    .signature = "MaxUnpool(X, I, output_shape?; kernel_shape!: ints, pads: ints, strides: ints) -> output",
    .rule =
        [](Context& c) {
          const Shape shape = c.shape_of(0);
          if (shape.size() < 3) c.reject(fmt::format("data of {} dimensions", shape.size()));
          if (c.shape_of(1) != shape)
            c.reject(fmt::format("indices of shape {} for data of {}", ir::to_string(c.shape_of(1)), ir::to_string(shape)));
          const std::size_t n = shape.size() - 2;
          const Ints kernel = *c.list("kernel_shape", n, 1), strides = c.list("strides", n, 1).value_or(Ints(n, 1));
          const Ints pads = c.list("pads", 2 * n, 0).value_or(Ints(2 * n, 0));
          Shape whole{shape[0], shape[1]};
          for (std::size_t d = 0; d < n; ++d) whole.push_back((shape[d + 2] - 1) * strides[d] - pads[d] - pads[n + d] + kernel[d]);
          c.check_shape(whole);
          const std::int64_t elements = ir::elements_of(shape), all = ir::elements_of(whole);
          const ValueId zeros = c.full(c.dtype_of(0), {all}, 0);
          const ValueId at = c.from_start(c.reshape(c.operand(1), {elements}), all);
          ValueId y = c.reshape(c.op("scatter", {zeros, at, c.reshape(c.operand(0), {elements})}, {{"axis", std::int64_t{0}}}), whole);
          if (c.has(2)) {
            const Ints wanted = c.integers(2);
            if (wanted.size() != whole.size()) c.reject(fmt::format("an output shape of {} dimensions", wanted.size()));
            c.check_shape(wanted);
            Ints change(2 * whole.size(), 0);
            for (std::size_t d = 0; d < whole.size(); ++d) change[whole.size() + d] = wanted[d] - whole[d];
            y = c.composition("pad", {y}, {{"pads", change}});
          }
          c.give(y);
        },
};

}  // namespace pando::onnx
