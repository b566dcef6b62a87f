#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_replica_sharded_slice;
constexpr OpRow op_replica_sharded_slice = checked({
    .name = "replica_sharded_slice",
    .doc = "This replica's shard of a tensor that all replicas of its group have: part i of the flattened tensor, padded with zeros, for "
           "replica i of the group. "
           "The shard's meta shape is the tensor's shape.",
    .signature = "replica_sharded_slice(t: Tensor, group: Optional[ReplicaGrouping]=None) -> Tensor",
    .module = "collectives.replicated_reduce_scatter",
    .operands = {{{"t"}}},
    .attributes = {{{"stride", AttributeKind::integer, false}, {"group_size", AttributeKind::integer, false}}},
    .infer =
        [](Inference& in) {
          in.result(in.dtype(0), {shard_size(in.shape(0), group_size_of(in))});
          in.results().back().meta_shape = in.shape(0);
        },
    .reference_group =
        [](GroupEvaluation& e) {
          const std::int64_t size = e.result_type().shape[0];
          for (std::size_t r = 0; r < e.replicas(); ++r) e.result(r, shard_of(e.operand(r, 0), e.member(r) * size, size));
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          Attributes a = g.attributes();
          a.set("output_shape", std::string("meta_shape"));
          g.give(0, g.op("replicated_all_gather", {g.grad()}, a));
        },
    .in_program_only = true,
    .popart_type = "ReplicatedReduceScatter",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .replica_part = ReplicaPart::of_flat,
});

}  // namespace pando::ir
