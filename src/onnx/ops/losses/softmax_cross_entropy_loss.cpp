#include "onnx/operator.h"
#include "onnx/rules/losses.h"

namespace pando::onnx {

extern const Operator onnx_softmax_cross_entropy_loss;
constexpr Operator onnx_softmax_cross_entropy_loss = {
    .signature = "SoftmaxCrossEntropyLoss(scores, labels, weights?; ignore_index: int, reduction: text) -> output, log_prob?",
    .rule =
        [](Context& c) {
          if (c.rank_of(0) < 2) c.reject(fmt::format("scores of {} dimensions; a batch and classes are expected", c.rank_of(0)));
          const ValueId logs = c.composition("log_softmax", {c.operand(0)}, {{"axis", std::int64_t{1}}});
          c.give(likelihood_loss(c, logs));
          if (c.wants(1)) c.give(logs);
        },
};

}  // namespace pando::onnx
