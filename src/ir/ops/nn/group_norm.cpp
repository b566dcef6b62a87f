#include "ir/shared/group_norm.h"

#include <cmath>

namespace pando::ir {

namespace {

void normalise(Evaluation& e) {
  const GroupNorm n = group_norm_of(e.operand(0).shape(), e.attributes());
  const HostTensor& t = e.operand(0);
  HostTensor y = e.fresh(), means = e.fresh(1), inverses = e.fresh(2);
  for (std::int64_t g = 0; g < n.batch * n.groups; ++g) {
    const std::int64_t begin = g * n.size, end = begin + n.size;
    double sum = 0, squares = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += t.number(i);
    const double mean = sum / static_cast<double>(n.size);
    for (std::int64_t i = begin; i < end; ++i) squares += (t.number(i) - mean) * (t.number(i) - mean);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n.size) + e.attributes().number("eps"));
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t c = n.channel_of(i);
      y.set(i, (t.number(i) - mean) * inverse * e.operand(1).number(c) + e.operand(2).number(c));
    }
    means.set(g, mean);
    inverses.set(g, inverse);
  }
  e.result(std::move(y));
  e.result(std::move(means));
  e.result(std::move(inverses));
}

}  // namespace

extern const OpRow op_group_norm;
constexpr OpRow op_group_norm = checked({
    .name = "group_norm",
    .doc = "Normalises the channels (dimension 1) of each batch entry in `num_groups` groups of neighbours, together with what follows: (t "
           "- mean) inv_std weight + bias, "
           "with inv_std = 1 / sqrt(variance + eps), the variance that of the elements themselves. weight and bias: one for each channel. "
           "Results: y, and mean and inv_std "
           "of each batch entry and group (float32 for half).",
    .signature = "group_norm(t: Tensor, weight: Tensor, bias: Tensor, num_groups: int, eps: float=1e-05) -> Tensor",
    .operands = {{{"t", any_floating}, {"weight", any_floating}, {"bias", any_floating}}},
    .attributes = {{{"num_groups", AttributeKind::integer}, {"eps", AttributeKind::number}}},
    .infer =
        [](Inference& in) {
          check_group_norm(in, {1, 2});
          const Shape groups{in.shape(0)[0] * in.attributes().integer("num_groups")};
          same_as_first(in);
          in.result(statistics_type(in.dtype(0)), groups);
          in.result(statistics_type(in.dtype(0)), groups);
        },
    .reference = normalise,
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          const std::vector<ValueId> operands{g.operand(0), g.operand(1), g.result(1), g.result(2), g.grad(0)};
          const std::vector<ValueId> grads = g.ops("group_norm_grad", operands, g.attributes());
          for (std::size_t i = 0; i < 3; ++i) {
            if (!g.wants(i)) continue;
            const DType type = g.operand_type(i).dtype;
            g.give(i, g.type_of(grads[i]).dtype == type ? grads[i] : g.op("cast", {grads[i]}, {{"data_type", type}}));
          }
        },
    .samples = group_norm_samples,
    .popart_type = "GroupNormalization",
    .subscripts = norm_subscripts,
});

}  // namespace pando::ir
