#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_all_reduce_identical_inputs;
constexpr OpRow op_all_reduce_identical_inputs = checked({
    .name = "all_reduce_identical_inputs",
    .doc = "The tensors as they are, of which the user says that they are copies of one; their gradients are summed over the devices.",
    .signature = "all_reduce_identical_inputs(ts: List[Tensor], ipus: Optional[List[int]]=None, op: CollectiveOps='add') -> List[Tensor]",
    .module = "collectives.all_reduce",
    .operands = {{{.name = "ts", .variadic = true}}},
    .attributes = {{{"op", AttributeKind::text}}},
    .infer = infer_all_reduce,
    .reference = [](Evaluation& e) {
      for (std::size_t i = 0; i < e.operands(); ++i) e.result(e.operand(i));
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      only_add_is_differentiable(g);
      std::vector<ValueId> grads;
      for (std::size_t i = 0; i < g.operands(); ++i) grads.push_back(g.grad(i));
      grads = g.ops("all_reduce", grads, g.attributes());
      for (std::size_t i = 0; i < g.operands(); ++i) {
        if (g.wants(i)) g.give(i, grads[i]);
      }
    },
    .samples = all_reduce_samples,
    .moves = true,
    .popart_type = "AllReduce",
    .whole = "devices meet in it: the program says where its operands lie",
});

}  // namespace pando::ir
