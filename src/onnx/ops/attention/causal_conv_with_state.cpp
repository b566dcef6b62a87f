#include "onnx/operator.h"

namespace pando::onnx {

extern const Operator onnx_causal_conv_with_state;
constexpr Operator onnx_causal_conv_with_state = {
    .signature = "CausalConvWithState(input, weight, bias?, past_state?; activation: text) -> output, present_state?",
    .rule =
        [](Context& c) {
          const Shape in = c.shape_of(0), w = c.shape_of(1);
          if (in.size() != 3 || w.size() != 3 || w[0] != in[1] || w[1] != 1)
            c.reject(fmt::format("data of shape {} and weights of {}", ir::to_string(in), ir::to_string(w)));
          const std::int64_t before = w[2] - 1;
          const ValueId past = c.has(3) ? c.operand(3) : c.full(c.dtype_of(0), {in[0], in[1], before}, 0);
          if (c.shape(past) != Shape{in[0], in[1], before})
            c.reject(fmt::format("a state of shape {}; {} elements of each channel are expected", ir::to_string(c.shape(past)), before));
          const ValueId whole = before > 0 ? c.concat({past, c.operand(0)}, 2) : c.operand(0);
          ValueId y =
              c.op("conv", {whole, c.operand(1)}, {{"stride", Ints{1}}, {"padding", Ints{0, 0}}, {"dilation", Ints{1}}, {"groups", in[1]}});
          if (c.has(2)) y = c.op("add", {y, c.reshape(c.operand(2), {1, in[1], 1})});
          const std::string activation = c.word("activation", "none", {"none", "", "silu", "swish"});
          if (activation.size() > 4 || activation == "silu") y = c.op("swish", {y});
          c.give(y);
          if (c.wants(1)) c.give(c.slice(whole, 2, in[2], before));
        },
};

}  // namespace pando::onnx
