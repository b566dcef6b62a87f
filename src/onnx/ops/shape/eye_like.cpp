#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_eye_like;
constexpr Operator onnx_eye_like = {
    .signature = "EyeLike(input; dtype: int, k: int) -> output",
    .rule =
        [](Context& c) {
          const Shape s = c.shape_of(0);
          if (s.size() != 2) c.reject(fmt::format("operand 0 has {} dimensions; 2 are expected", s.size()));
          const std::int64_t k = c.integer("k", 0);
          HostTensor eye(DType::boolean, s);
          for (std::int64_t r = 0; r < s[0]; ++r) {
            if (k >= -s[0] && k <= s[1] && r + k >= 0 && r + k < s[1]) eye.set_integer(r * s[1] + r + k, 1);
          }
          c.give(c.op("cast", {c.constant(eye)}, {{"data_type", c.dtype_attribute("dtype", c.dtype_of(0))}}));
        },
};

}  // namespace pando::onnx
