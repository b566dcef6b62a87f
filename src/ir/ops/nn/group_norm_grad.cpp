#include "ir/shared/group_norm.h"

namespace pando::ir {

namespace {

void differentiate(Evaluation& e) {
  const GroupNorm n = group_norm_of(e.operand(0).shape(), e.attributes());
  const HostTensor &t = e.operand(0), &weight = e.operand(1), &dy = e.operand(4);
  HostTensor dt = e.fresh();
  std::vector<double> dweight(static_cast<std::size_t>(n.channels)), dbias(static_cast<std::size_t>(n.channels));
  const auto size = static_cast<double>(n.size);
  for (std::int64_t g = 0; g < n.batch * n.groups; ++g) {
    const double mean = e.operand(2).number(g), inverse = e.operand(3).number(g);
    // Sums of the normalised elements' gradients, and of those times the elements.
    double sum = 0, product = 0;
    for (std::int64_t i = g * n.size; i < (g + 1) * n.size; ++i) {
      const auto c = static_cast<std::size_t>(n.channel_of(i));
      const double x = (t.number(i) - mean) * inverse, d = dy.number(i);
      dweight[c] += d * x;
      dbias[c] += d;
      sum += d * weight.number(n.channel_of(i));
      product += d * weight.number(n.channel_of(i)) * x;
    }
    for (std::int64_t i = g * n.size; i < (g + 1) * n.size; ++i) {
      const double x = (t.number(i) - mean) * inverse;
      dt.set(i, inverse * (dy.number(i) * weight.number(n.channel_of(i)) - sum / size - x * product / size));
    }
  }
  e.result(std::move(dt));
  e.result(HostTensor::of_floats(e.result_type(1).dtype, e.result_type(1).shape, dweight));
  e.result(HostTensor::of_floats(e.result_type(2).dtype, e.result_type(2).shape, dbias));
}

}  // namespace

extern const OpRow op_group_norm_grad;
constexpr OpRow op_group_norm_grad = checked({
    .name = "group_norm_grad",
    .doc = "The gradients of group_norm for its operands t, weight and bias, from t, the weight, the mean and inv_std that group_norm "
           "gave, and the gradient of y.",
    .operands = {{{"t", any_floating}, {"weight", any_floating}, {"mean", any_floating}, {"inv_std", any_floating}, {"dy", any_floating}}},
    .attributes = {{{"num_groups", AttributeKind::integer}, {"eps", AttributeKind::number}}},
    .infer =
        [](Inference& in) {
          check_group_norm(in, {1});
          const Shape groups{in.shape(0)[0] * in.attributes().integer("num_groups")};
          if (in.shape(2) != groups || in.shape(3) != groups || in.shape(4) != in.shape(0)) {
            in.reject("norm-gradient", "the mean and inv_std need shape {}, the gradient {}", to_string(groups), to_string(in.shape(0)));
          }
          same_as_first(in);
          in.result(in.dtype(1), in.shape(1));
          in.result(in.dtype(1), in.shape(1));
        },
    .reference = differentiate,
    .samples =
        [] {
          std::vector<Sample> all = group_norm_samples();
          for (Sample& s : all) {
            const DType type = s.operands[0].dtype;
            const Shape groups{s.operands[0].shape[0] * s.attributes.integer("num_groups")};
            s.operands.pop_back();
            s.operands.push_back({statistics_type(type), groups, -0.5, 0.5, {}});
            s.operands.push_back({statistics_type(type), groups, 0.5, 2, {}});
            s.operands.push_back({type, s.operands[0].shape, -1, 1, {}});
          }
          return all;
        },
    .popart_type = "GroupNormalizationGrad",
    .subscripts = [](const SubscriptsOf& o) {
      // Gradients of the weight and the bias add up over the samples.
      Subscripts s = o.blank();
      for (const std::size_t i : {0u, 2u, 3u, 4u}) put(s.operands[i], 0, 0);
      put(s.results[0], 0, 0);
      return s;
    },
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
