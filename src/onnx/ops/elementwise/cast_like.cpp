#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_cast_like;
constexpr Operator onnx_cast_like = {
    .signature = "CastLike(input, target_type; saturate: int, round_mode: text) -> output",
    .rule =
        [](Context& c) {
          c.flag("saturate", true);
          if (c.has("round_mode")) c.reject("attribute 'round_mode' is of float8e8m0, which Pando does not have");
          c.give(c.op("cast", {c.operand(0)}, {{"data_type", c.dtype_of(1)}}));
        },
    .limits = "element types that Pando does not have, texts",
};

}  // namespace pando::onnx
