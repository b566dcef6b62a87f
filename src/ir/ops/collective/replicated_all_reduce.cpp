#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_replicated_all_reduce;
constexpr OpRow op_replicated_all_reduce = checked({
    .name = "replicated_all_reduce",
    .doc = "Combines the tensors of the replicas of each group; every replica gets the combination.",
    .signature = "replicated_all_reduce(t: Tensor, op: CollectiveOps='add', group: Optional[ReplicaGrouping]=None) -> Tensor",
    .module = "collectives.replicated_all_reduce",
    .operands = {{{"t"}}},
    .attributes = {{{"op", AttributeKind::text}, {"stride", AttributeKind::integer, false}, {"group_size", AttributeKind::integer, false}}},
    .infer = [](Inference& in) {
      check_reduction_kind(in);
      group_size_of(in);
      same_as_first(in);
    },
    .reference_group = [](GroupEvaluation& e) {
      for (const auto& members : e.groups()) {
        std::vector<const HostTensor*> parts;
        for (std::size_t r : members) parts.push_back(&e.operand(r, 0));
        const HostTensor all = combined(e.attributes().text("op"), parts);
        for (std::size_t r : members) e.result(r, all);
      }
    },
    .in_program_only = true,
    .has_in_place = true,
    .effects = Effects::replicas,
    .popart_type = "ReplicatedAllReduce",
    .popart_in_place_type = "ReplicatedAllReduceInplace",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .traffic = Traffic::all_reduce,
});

}  // namespace pando::ir
