#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_all_reduce_across;
constexpr OpRow op_all_reduce_across = checked({
    .name = "all_reduce_across",
    .doc = "The reduction (`op`: add, mean, mul, min, max) of the tensors of a tuple, on each of their devices.",
    .operands = {{{"ts"}}},
    .attributes = {{{"op", AttributeKind::text}}},
    .infer = [](Inference& in) {
      check_reduction(in);
      tuple_result(in, equal_elements(in));
    },
    .reference = [](Evaluation& e) {
      const std::vector<HostTensor> parts = tensors_of(e.operand_value(0));
      e.result(tuple_of(std::vector<HostTensor>(parts.size(), reduced(parts, e.attributes().text("op")))));
    },
    .expand = [](Expansion& e) {
      const std::vector<ValueId> parts = elements_of(e);
      give_tuple(e, e.ops("all_reduce", parts, {{"op", e.attributes().text("op")}}));
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::all_reduce,
});

}  // namespace pando::ir
