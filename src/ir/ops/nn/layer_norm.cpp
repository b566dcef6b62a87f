#include "ir/shared/group_norm.h"

#include <cmath>

namespace pando::ir {

namespace {

Attributes with_one_group(Attributes a) {
  a.set("num_groups", std::int64_t{1});
  return a;
}

void normalise_layer(Evaluation& e) {
  const GroupNorm n = group_norm_of(e.operand(0).shape(), with_one_group(e.attributes()));
  const HostTensor& t = e.operand(0);
  HostTensor y = e.fresh();
  for (std::int64_t b = 0; b < n.batch; ++b) {
    double mean = 0, variance = 0;
    for (std::int64_t i = b * n.size; i < (b + 1) * n.size; ++i) mean += t.number(i) / static_cast<double>(n.size);
    for (std::int64_t i = b * n.size; i < (b + 1) * n.size; ++i) variance += std::pow(t.number(i) - mean, 2) / static_cast<double>(n.size);
    const double deviation = std::sqrt(variance + e.attributes().number("eps"));
    for (std::int64_t i = b * n.size; i < (b + 1) * n.size; ++i) {
      y.set(i, (t.number(i) - mean) / deviation * e.operand(1).number(n.channel_of(i)) + e.operand(2).number(n.channel_of(i)));
    }
  }
  e.result(std::move(y));
}

}  // namespace

extern const OpRow op_layer_norm;
constexpr OpRow op_layer_norm = checked({
    .name = "layer_norm",
    .doc = "group_norm with one group: each batch entry is normalised as a whole, with a weight and a bias for each channel (dimension 1).",
    .signature = "layer_norm(t: Tensor, weight: Tensor, bias: Tensor, eps: float=1e-05) -> Tensor",
    .module = "group_norm",
    .operands = {{{"t", any_floating}, {"weight", any_floating}, {"bias", any_floating}}},
    .attributes = {{{"eps", AttributeKind::number}}},
    .infer = [](Inference& in) {
      check_group_norm(in, {1, 2});
      same_as_first(in);
    },
    .reference = normalise_layer,
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const Attributes a = with_one_group(g.attributes());
      // The statistics again: a layer_norm keeps none.
      const std::vector<ValueId> forward{g.operand(0), g.operand(1), g.operand(2)};
      const std::vector<ValueId> normal = g.ops("group_norm", forward, a);
      const std::vector<ValueId> operands{g.operand(0), g.operand(1), normal[1], normal[2], g.grad(0)};
      const std::vector<ValueId> grads = g.ops("group_norm_grad", operands, a);
      for (std::size_t i = 0; i < 3; ++i) {
        if (!g.wants(i)) continue;
        const DType type = g.operand_type(i).dtype;
        g.give(i, g.type_of(grads[i]).dtype == type ? grads[i] : g.op("cast", {grads[i]}, {{"data_type", type}}));
      }
    },
    .expand = [](Expansion& x) {
      const std::vector<ValueId> operands{x.operand(0), x.operand(1), x.operand(2)};
      x.result(x.ops("group_norm", operands, with_one_group(x.attributes()))[0]);
    },
    .samples = [] {
      Sample s;
      s.operands = {{DType::float32, {3, 6}, -2, 2, {}}, {DType::float32, {6}, 0.5, 1.5, {}}, {DType::float32, {6}, -1, 1, {}}};
      s.attributes = {{"eps", 1e-5}};
      return std::vector{s};
    },
    .popart_type = "GroupNormalization",
    .subscripts = norm_subscripts,
});

}  // namespace pando::ir
