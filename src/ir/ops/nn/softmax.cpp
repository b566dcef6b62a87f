#include "ir/shared/joint_axes.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_softmax;
constexpr OpRow op_softmax = checked({
    .name = "softmax",
    .doc = "e^x over its sum, normalised jointly over all dimensions from `axis` on: softmax of the tensor reshaped to two dimensions "
           "there. With the last "
           "axis that is NumPy's softmax.",
    .signature = "softmax(t: Tensor, axis: int) -> Tensor",
    .operands = {{{"t", any_floating}}},
    .attributes = {{{"axis", AttributeKind::integer}}},
    .infer = infer_joint_axes,
    .reference =
        [](Evaluation& e) {
          const HostTensor& x = e.operand(0);
          HostTensor y = e.fresh();
          for_each_row(e, [&](std::int64_t begin, std::int64_t end) {
            double most = -INFINITY, sum = 0;
            for (std::int64_t i = begin; i < end; ++i) most = std::max(most, x.number(i));
            for (std::int64_t i = begin; i < end; ++i) sum += std::exp(x.number(i) - most);
            for (std::int64_t i = begin; i < end; ++i) y.set(i, std::exp(x.number(i) - most) / sum);
          });
          e.result(std::move(y));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("softmax_grad", {g.result(), g.grad()}, g.attributes())); },
    .samples = [] { return joint_axes_samples(1); },
    .popart_type = "Softmax",
    .subscripts = joint_axes_subscripts,
});

}  // namespace pando::ir
