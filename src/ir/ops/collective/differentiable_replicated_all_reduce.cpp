#include "ir/shared/reduction_kind.h"

namespace pando::ir {

namespace {

// The gradient of a sum over replicas is the sum of the gradients; where one side is known to be equal on all replicas, that side needs no
// sum.
void gradient(Gradient& g) {
  only_add_is_differentiable(g);
  Attributes a = g.attributes();
  const bool identical_inputs = a.flag("identical_inputs"), identical_grads = a.flag("identical_grad_inputs");
  a.set("identical_inputs", identical_grads);
  a.set("identical_grad_inputs", identical_inputs);
  g.give(0, g.op("differentiable_replicated_all_reduce", {g.grad()}, a));
}

}  // namespace

extern const OpRow op_differentiable_replicated_all_reduce;
constexpr OpRow op_differentiable_replicated_all_reduce = checked({
    .name = "differentiable_replicated_all_reduce",
    .doc = "Combines the tensors of the replicas of each group, as layers that are divided among replicas need it. identical_inputs: they "
           "are copies of one tensor, "
           "which is the result; its gradients are summed. identical_grad_inputs: the gradients of the result are copies of one, which is "
           "the tensor's.",
    .operands = {{{"t"}}},
    .attributes = {{{"op", AttributeKind::text},
                    {"stride", AttributeKind::integer, false},
                    {"group_size", AttributeKind::integer, false},
                    {"identical_inputs", AttributeKind::flag, false},
                    {"identical_grad_inputs", AttributeKind::flag, false}}},
    .infer =
        [](Inference& in) {
          check_reduction_kind(in);
          group_size_of(in);
          same_as_first(in);
        },
    .reference_group =
        [](GroupEvaluation& e) {
          for (const auto& members : e.groups()) {
            std::vector<const HostTensor*> parts;
            for (std::size_t r : members) parts.push_back(&e.operand(r, 0));
            if (e.attributes().flag("identical_inputs")) {
              for (std::size_t r : members) e.result(r, e.operand(r, 0));
              continue;
            }
            const HostTensor all = combined(e.attributes().text("op"), parts);
            for (std::size_t r : members) e.result(r, all);
          }
        },
    .differentiable = Differentiable::by_gradient,
    .gradient = gradient,
    .in_program_only = true,
    .effects = Effects::replicas,
    .popart_type = "ReplicatedAllReduceTP",
    .whole = "replicas meet in it, and a program with replicas is not distributed further",
    .traffic = Traffic::all_reduce,
});

}  // namespace pando::ir
