#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_reshape;
constexpr Operator onnx_reshape = {
    .signature = "Reshape(data, shape; allowzero: int) -> reshaped",
    .rule =
        [](Context& c) {
          Ints shape = c.integers(1);
          const Shape in = c.shape_of(0);
          const bool zeros = c.flag("allowzero", false);
          std::optional<std::size_t> open;
          for (std::size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] == 0 && !zeros) {
              if (d >= in.size()) c.reject("0 stands for a dimension that is not there");
              shape[d] = in[d];
            }
            if (shape[d] < -1) c.reject(fmt::format("the shape {} has the dimension {}", ir::to_string(shape), shape[d]));
            if (shape[d] != -1) continue;
            if (open) c.reject(fmt::format("the shape {} has two dimensions of -1", ir::to_string(shape)));
            open = d;
          }
          const std::int64_t all = ir::elements_of(in);
          if (open) {
            shape[*open] = 1;
            c.check_shape(shape);
            const std::int64_t rest = ir::elements_of(shape);
            if (rest == 0 ? all != 0 : all % rest != 0)
              c.reject(fmt::format("{} elements do not fill {} with a whole number for -1", all, ir::to_string(shape)));
            shape[*open] = rest == 0 ? 0 : all / rest;
          }
          c.check_shape(shape);
          if (ir::elements_of(shape) != all) c.reject(fmt::format("{} elements do not fill {}", all, ir::to_string(shape)));
          c.give(c.op("reshape", {c.operand(0)}, {{"shape", shape}}));
        },
};

}  // namespace pando::onnx
