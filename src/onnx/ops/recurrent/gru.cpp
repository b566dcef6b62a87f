#include "onnx/operator.h"
#include "onnx/rules/recurrent.h"

namespace pando::onnx {

extern const Operator onnx_gru;
constexpr Operator onnx_gru = {
    .signature =
        "GRU(X, W, R, B?, sequence_lens?, initial_h?; activation_alpha: floats, activation_beta: floats, activations: "
        "texts, clip: float, direction: text, hidden_size: int, layout: int, linear_before_reset: int) -> Y?, Y_h?",
    .rule = [](Context& c) { recurrent(c, {3, {"Sigmoid", "Tanh"}, false, gru_step}); },
};

}  // namespace pando::onnx
