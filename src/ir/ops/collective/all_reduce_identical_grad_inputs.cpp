#include "ir/shared/reduction_kind.h"

namespace pando::ir {

namespace {

void infer_all_reduce(Inference& in) {
  check_reduction_kind(in);
  if (in.operands() == 0) in.refuse("collective-empty", "it needs a tensor");
  for (std::size_t i = 0; i < in.operands(); ++i) {
    if (in.shape(i) != in.shape(0) || in.dtype(i) != in.dtype(0)) in.refuse("collective-shapes", "the tensors differ in shape or type");
    in.result(in.operand(i));
  }
}

void reduce_all(Evaluation& e) {
  std::vector<const HostTensor*> parts;
  for (std::size_t i = 0; i < e.operands(); ++i) parts.push_back(&e.operand(i));
  const HostTensor all = combined(e.attributes().text("op"), parts);
  for (std::size_t i = 0; i < e.operands(); ++i) e.result(all);
}

}  // namespace

extern const OpRow op_all_reduce_identical_grad_inputs;
constexpr OpRow op_all_reduce_identical_grad_inputs = checked({
    .name = "all_reduce_identical_grad_inputs",
    .doc = "As all_reduce; the results' gradients, of which the user says that they are copies of one, are the operands' as they are.",
    .signature =
        "all_reduce_identical_grad_inputs(ts: List[Tensor], ipus: Optional[List[int]]=None, op: CollectiveOps='add') -> List[Tensor]",
    .module = "collectives.all_reduce",
    .operands = {{{.name = "ts", .variadic = true}}},
    .attributes = {{{"op", AttributeKind::text}}},
    .infer = infer_all_reduce,
    .reference = reduce_all,
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          only_add_is_differentiable(g);
          std::vector<ValueId> grads;
          for (std::size_t i = 0; i < g.operands(); ++i) grads.push_back(g.grad(i));
          for (std::size_t i = 0; i < g.operands(); ++i) {
            if (g.wants(i)) g.give(i, grads[i]);
          }
        },
    .samples = all_reduce_samples,
    .moves = true,
    .popart_type = "AllReduce",
});

}  // namespace pando::ir
