#include "ir/shared/nll.h"
#include "ir/shared/scalars.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_nll_loss_with_softmax_grad;
constexpr OpRow op_nll_loss_with_softmax_grad = checked({
    .name = "nll_loss_with_softmax_grad",
    .doc = "The loss -log(p + epsilon) of softmax's result, and the gradient of softmax's operand: (probs - onehot(labels)) times "
           "`loss_grad`, divided as the "
           "loss is (mean: by the rows that are not ignored). Ignored rows are 0 in both. `loss_grad`: a number, or a tensor of one "
           "element or of the loss' "
           "shape.",
    .signature = "nll_loss_with_softmax_grad(probs: Tensor, labels: Tensor, loss_grad: Union[float, Tensor]=1, ignore_index: "
                 "Optional[int]=None, reduction: "
                 "REDUCTION_TYPE='mean') -> Tuple[Tensor, Tensor]",
    .module = "negative_log_likelihood",
    .operands = {{{"probs", any_floating}, {"labels", any_integer}, {.name = "loss_grad", .types = any_numeric, .optional = true}}},
    .attributes = {{{"loss_grad", AttributeKind::number, false},
                    {"scalars", AttributeKind::texts, false},
                    {"ignore_index", AttributeKind::integer, false},
                    {"reduction", AttributeKind::text}}},
    .infer =
        [](Inference& in) {
          check_nll(in);
          const Shape loss = nll_shape(in);
          if (in.operands() != 3 || in.shape(2) != loss || !scalar_operand(in.attributes(), "loss_grad", 2))
            check_scalars(in, 2, {"loss_grad"});
          in.result(in.dtype(0), loss);
          same_as_first(in);
        },
    .reference =
        [](Evaluation& e) {
          const HostTensor& probs = e.operand(0);
          const double epsilon = nll_epsilon(probs.dtype()), divisor = nll_divisor(e), number = e.attributes().number("loss_grad", 1);
          e.result(nll_loss_of(e, [&](double p) { return -std::log(p + epsilon); }));
          HostTensor dx = e.fresh(1);
          const std::int64_t classes = probs.shape().back();
          for_each_label(e, [&](std::int64_t row, std::int64_t at) {
            const double grad = e.operands() == 3 ? e.operand(2).number(e.operand(2).elements() == 1 ? 0 : row) : number;
            for (std::int64_t i = row * classes; i < (row + 1) * classes; ++i) dx.set(i, (probs.number(i) - (i == at)) * grad / divisor);
          });
          e.result(std::move(dx));
        },
    .samples =
        [] {
          std::vector<Sample> all = nll_samples(false), with_tensor = nll_samples(true);
          for (Sample& s : with_tensor) s.attributes.set("scalars", Strings{"loss_grad"});
          all.insert(all.end(), with_tensor.begin(), with_tensor.end());
          return all;
        },
    .popart_type = "NlllWithSoftmaxGradDirect",
    .subscripts = nll_subscripts,
    .as_sums = nll_loss_with_softmax_grad_as_sums,
    .phase = OpPhase::backward,
});

}  // namespace pando::ir
