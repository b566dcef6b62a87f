#include "onnx/operator.h"
#include "onnx/rules/recurrent.h"

namespace pando::onnx {

extern const Operator onnx_rnn;
constexpr Operator onnx_rnn = {
    .signature =
        "RNN(X, W, R, B?, sequence_lens?, initial_h?; activation_alpha: floats, activation_beta: floats, activations: "
        "texts, clip: float, direction: text, hidden_size: int, layout: int) -> Y?, Y_h?",
    .rule = [](Context& c) { recurrent(c, {1, {"Tanh"}, false, rnn_step}); },
};

}  // namespace pando::onnx
