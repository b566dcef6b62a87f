#include "onnx/operator.h"
#include "onnx/rules/losses.h"

namespace pando::onnx {

extern const Operator onnx_negative_log_likelihood_loss;
constexpr Operator onnx_negative_log_likelihood_loss = {
    .signature = "NegativeLogLikelihoodLoss(input, target, weight?; ignore_index: int, reduction: text) -> loss",
    .rule = [](Context& c) { c.give(likelihood_loss(c, c.operand(0))); },
};

}  // namespace pando::onnx
