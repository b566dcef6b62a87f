#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_get_element;
constexpr OpRow op_get_element = checked({
    .name = "get_element",
    .doc = "Element `index` of a tuple.",
    .operands = {{{"ts"}}},
    .attributes = {{{"index", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const Type& t = in.operand(0);
      const std::int64_t i = in.attributes().integer("index");
      if (t.is_tensor()) in.reject("not-a-tuple", "operand 0 is a tensor");
      if (i < 0 || i >= static_cast<std::int64_t>(t.elements.size()))
        in.reject("element-range", "element {} of a tuple of {}", i, t.elements.size());
      in.result(Type(in.module().type(t.elements[static_cast<std::size_t>(i)])));
    },
    .reference = [](Evaluation& e) {
      e.result(e.operand_value(0).elements[static_cast<std::size_t>(e.attributes().integer("index"))]);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .tuple = Tuple::element,
});

}  // namespace pando::ir
