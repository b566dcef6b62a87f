#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_bit_shift;
constexpr Operator onnx_bit_shift = {
    .signature = "BitShift(X, Y; direction!: text) -> Z",
    .rule =
        [](Context& c) {
          c.give(c.op(c.word("direction", "", {"LEFT", "RIGHT"}) == "LEFT" ? "shift_left" : "shift_right", {c.operand(0), c.operand(1)}));
        },
};

}  // namespace pando::onnx
