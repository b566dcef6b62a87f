#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_gather_across;
constexpr OpRow op_gather_across = checked({
    .name = "gather_across",
    .doc = "The tensors of a tuple, one behind the other along a dimension, on one device.",
    .operands = {{{"ts"}}},
    .attributes = {{{"dim", AttributeKind::integer}, {"device", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      const std::vector<Type> parts = tuple_elements(in);
      const auto dim = static_cast<std::size_t>(dimension_of(in, parts[0], "dim"));
      Type whole = on_device(parts[0], in.attributes().integer("device"));
      for (std::size_t i = 1; i < parts.size(); ++i) {
        Shape expected = whole.shape;
        if (parts[i].rank() == parts[0].rank()) expected[dim] = parts[i].shape[dim];
        if (parts[i].shape != expected)
          in.reject("different-shapes", "elements of shapes {} and {}", to_string(parts[0].shape), to_string(parts[i].shape));
        whole.shape[dim] += parts[i].shape[dim];
      }
      in.result(std::move(whole));
    },
    .reference = [](Evaluation& e) {
      e.result(joined_along(tensors_of(e.operand_value(0)), e.attributes().integer("dim")));
    },
    .expand = [](Expansion& e) {
      std::vector<ValueId> parts = elements_of(e);
      for (ValueId& v : parts) v = moved(e, v, e.attributes().integer("device"));
      e.result(joined_along(e, parts, e.attributes().integer("dim")));
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::gather,
});

}  // namespace pando::ir
