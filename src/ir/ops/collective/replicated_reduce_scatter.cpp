#include "ir/shared/reduction_kind.h"

namespace pando::ir {

extern const OpRow op_replicated_reduce_scatter;
constexpr OpRow op_replicated_reduce_scatter = checked({
    .name = "replicated_reduce_scatter",
    .doc = "Combines the flattened tensors of the replicas of a group, padded with zeros; replica i of the group gets part i, of "
           "ceil(elements / g) elements. With "
           "`configure_output_for_replicated_tensor_sharding` the result is a shard of the tensor (it has a meta shape).",
    .signature = "replicated_reduce_scatter(t: Tensor, op: CollectiveOps='add', group: Optional[ReplicaGrouping]=None, "
                 "configure_output_for_replicated_tensor_sharding: bool=False) -> Tensor",
    .module = "collectives.replicated_reduce_scatter",
    .operands = {{{"t"}}},
    .attributes = {{{"op", AttributeKind::text},
                    {"stride", AttributeKind::integer, false},
                    {"group_size", AttributeKind::integer, false},
                    {"configure_output_for_replicated_tensor_sharding", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          check_reduction_kind(in);
          in.result(in.dtype(0), {shard_size(in.shape(0), group_size_of(in))});
          if (in.attributes().flag("configure_output_for_replicated_tensor_sharding", false)) in.results().back().meta_shape = in.shape(0);
        },
    .reference_group =
        [](GroupEvaluation& e) {
          const std::int64_t size = e.result_type().shape[0];
          for (const auto& members : e.groups()) {
            std::vector<const HostTensor*> parts;
            for (std::size_t r : members) parts.push_back(&e.operand(r, 0));
            const HostTensor all = combined(e.attributes().text("op"), parts);
            for (std::size_t i = 0; i < members.size(); ++i) e.result(members[i], shard_of(all, static_cast<std::int64_t>(i) * size, size));
          }
        },
    .differentiable = Differentiable::by_gradient,
    .gradient =
        [](Gradient& g) {
          only_add_is_differentiable(g);
          const Shape& shape = g.operand_type(0).shape;
          Attributes a;
          for (std::string_view name : {"stride", "group_size"}) {
            if (const AttributeValue* v = g.attributes().find(name)) a.set(name, *v);
          }
          if (!g.result_type().meta_shape.empty()) {
            a.set("output_shape", std::string("meta_shape"));
            return g.give(0, g.op("replicated_all_gather", {g.grad()}, a));
          }
          a.set("output_shape", std::string("concat"));
          a.set("axis", std::int64_t{0});
          ValueId whole = g.op("replicated_all_gather", {g.grad()}, a);
          const std::int64_t n = elements_of(shape);
          if (g.type_of(whole).shape[0] != n) {
            whole = g.op("slice", {whole}, {{"start", Ints{0}}, {"stop", Ints{n}}, {"step", Ints{1}}, {"axis", Ints{0}}});
          }
          g.give(0, g.op("reshape", {whole}, {{"shape", Ints(shape)}}));
        },
    .in_program_only = true,
    .effects = Effects::replicas,
    .popart_type = "ReplicatedReduceScatter",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .traffic = Traffic::reduce_scatter,
});

}  // namespace pando::ir
