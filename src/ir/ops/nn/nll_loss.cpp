#include "ir/shared/nll.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_nll_loss;
constexpr OpRow op_nll_loss = checked({
    .name = "nll_loss",
    .doc = "Negative log likelihood: -log(max(p, epsilon)) of the probability p that each row of `probs` gives its label, with epsilon "
           "1e-7 (6.104e-5 for "
           "float16); of log probabilities (`log_prob`) -p. Rows whose label is `ignore_index`, or no class, count 0. `reduction`: mean "
           "(over the rows that "
           "are not ignored, at least one), sum or none.",
    .signature = "nll_loss(probs: Tensor, labels: Tensor, ignore_index: Optional[int]=None, reduction: REDUCTION_TYPE='mean', log_prob: "
                 "bool=False) -> Tensor",
    .module = "negative_log_likelihood",
    .operands = {{{"probs", any_floating}, {"labels", any_integer}}},
    .attributes = {{{"ignore_index", AttributeKind::integer, false},
                    {"reduction", AttributeKind::text},
                    {"log_prob", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          check_nll(in);
          in.result(in.dtype(0), nll_shape(in));
        },
    .reference =
        [](Evaluation& e) {
          const bool log_prob = e.attributes().flag("log_prob", false);
          const double epsilon = nll_epsilon(e.operand(0).dtype());
          e.result(nll_loss_of(e, [&](double p) { return log_prob ? -p : -std::log(std::max(p, epsilon)); }));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) { g.give(0, g.op("nll_grad", {g.operand(0), g.operand(1), g.grad()}, g.attributes())); },
    .samples = [] { return nll_samples(false, {"log_prob"}); },
    .popart_type = "Nll",
    .subscripts = nll_subscripts,
    .as_sums = nll_loss_as_sums,
});

}  // namespace pando::ir
