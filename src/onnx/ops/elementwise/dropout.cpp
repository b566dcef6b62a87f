#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_dropout;
constexpr Operator onnx_dropout = {
    .signature = "Dropout(data, ratio?, training_mode?; ratio: float, seed: int) -> output, mask?",
    .rule =
        [](Context& c) {
          if (c.has(2) && c.data(2).elements() == 1 && c.data(2).integer(0) != 0) {
            const double ratio = c.has(1) ? c.number(1) : 0.5;
            if (ratio != 0) c.reject("it drops elements at random ('training_mode'); models are read for inference");
          }
          c.integer("seed", 0);
          c.give(c.op("identity", {c.operand(0)}));
          if (c.wants(1)) c.give(c.full(DType::boolean, c.shape_of(0), 1));
        },
    .limits = "training: models are read for inference",
};

}  // namespace pando::onnx
