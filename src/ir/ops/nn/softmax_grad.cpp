#include "ir/shared/joint_axes.h"

namespace pando::ir {

extern const OpRow op_softmax_grad;
constexpr OpRow op_softmax_grad = checked({
    .name = "softmax_grad",
    .doc = "The gradient of softmax from its result `y` and its result's gradient: y (dy - sum(y dy)), the sum over the dimensions from "
           "`axis` on.",
    .operands = {{{"y", any_floating}, {"dy", any_floating}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .infer =
        [](Inference& in) {
          if (in.shape(0) != in.shape(1) || in.dtype(0) != in.dtype(1))
            in.reject("different-shapes", "the result and its gradient differ in shape or type");
          infer_joint_axes(in);
        },
    .reference =
        [](Evaluation& e) {
          const HostTensor &y = e.operand(0), &dy = e.operand(1);
          HostTensor dx = e.fresh();
          for_each_row(e, [&](std::int64_t begin, std::int64_t end) {
            double sum = 0;
            for (std::int64_t i = begin; i < end; ++i) sum += y.number(i) * dy.number(i);
            for (std::int64_t i = begin; i < end; ++i) dx.set(i, y.number(i) * (dy.number(i) - sum));
          });
          e.result(std::move(dx));
        },
    .samples = [] { return joint_axes_samples(2); },
    .popart_type = "SoftmaxGrad",
    .subscripts = joint_axes_subscripts,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
