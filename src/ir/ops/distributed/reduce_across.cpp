#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_reduce_across;
constexpr OpRow op_reduce_across = checked({
    .name = "reduce_across",
    .doc = "The reduction (`op`: add, mean, mul, min, max) of the tensors of a tuple, on one device.",
    .operands = {{{"ts"}}},
    .attributes = {{{"op", AttributeKind::text}, {"device", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      check_reduction(in);
      in.result(on_device(equal_elements(in)[0], in.attributes().integer("device")));
    },
    .reference = [](Evaluation& e) {
      e.result(reduced(tensors_of(e.operand_value(0)), e.attributes().text("op")));
    },
    .expand = [](Expansion& e) {
      std::vector<ValueId> parts = elements_of(e);
      for (ValueId& v : parts) v = moved(e, v, e.attributes().integer("device"));
      e.result(reduced(e, parts));
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::reduce,
});

}  // namespace pando::ir
