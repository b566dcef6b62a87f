#include "onnx/operator.h"
#include "onnx/rules/recurrent.h"

namespace pando::onnx {

extern const Operator onnx_lstm;
constexpr Operator onnx_lstm = {
    .signature =
        "LSTM(X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?; activation_alpha: floats, activation_beta: "
        "floats, activations: texts, clip: float, direction: text, hidden_size: int, input_forget: int, layout: int) "
        "-> Y?, Y_h?, Y_c?",
    .rule = [](Context& c) { recurrent(c, {4, {"Sigmoid", "Tanh", "Tanh"}, true, lstm_step}); },
};

}  // namespace pando::onnx
