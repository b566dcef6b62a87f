#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_make_tuple;
constexpr OpRow op_make_tuple = checked({
    .name = "make_tuple",
    .doc = "A tuple of values.",
    .operands = {{{.name = "ts", .variadic = true}}},

    .infer = [](Inference& in) {
      std::vector<Type> parts;
      for (std::size_t i = 0; i < in.operands(); ++i) parts.push_back(in.operand(i));
      tuple_result(in, std::move(parts));
    },
    .reference = [](Evaluation& e) {
      HostValue v;
      for (std::size_t i = 0; i < e.operands(); ++i) v.elements.push_back(e.operand_value(i));
      e.result(std::move(v));
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .tuple = Tuple::make,
});

}  // namespace pando::ir
