#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_all_reduce;
constexpr OpRow op_all_reduce = checked({
    .name = "all_reduce",
    .doc = "Combines tensors of one shape that lie on different devices of a replica; each result, where its operand lies, is the "
           "combination of all.",
    .signature = "all_reduce(ts: List[Tensor], ipus: Optional[List[int]]=None, op: CollectiveOps='add') -> List[Tensor]",
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
