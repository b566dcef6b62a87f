#include "ir/shared/nll.h"

namespace pando::ir {

extern const OpRow op_nll_grad;
constexpr OpRow op_nll_grad = checked({
    .name = "nll_grad",
    .doc = "The gradient of nll_loss for the probabilities: -dy / max(p, epsilon) at each row's label (-dy for log probabilities), divided "
           "as the loss is; 0 "
           "elsewhere.",
    .operands = {{{"probs", any_floating}, {"labels", any_integer}, {"dy", any_floating}}},
    .attributes = {{{"ignore_index", AttributeKind::integer, false},
                    {"reduction", AttributeKind::text},
                    {"log_prob", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          check_nll(in);
          if (in.shape(2) != nll_shape(in))
            in.reject("nll-gradient", "a gradient of shape {}; the loss has {}", to_string(in.shape(2)), to_string(nll_shape(in)));
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          const bool log_prob = e.attributes().flag("log_prob", false), each = e.attributes().text("reduction") == "none";
          const double epsilon = nll_epsilon(e.operand(0).dtype()), divisor = nll_divisor(e);
          HostTensor dx = e.fresh();
          for_each_label(e, [&](std::int64_t row, std::int64_t at) {
            const double dy = e.operand(2).number(each ? row : 0) / divisor;
            dx.set(at, log_prob ? -dy : -dy / std::max(e.operand(0).number(at), epsilon));
          });
          e.result(std::move(dx));
        },
    .samples = [] { return nll_samples(true, {"log_prob"}); },
    .popart_type = "NllGrad",
    .subscripts = nll_subscripts,
    .as_sums = nll_grad_as_sums,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
