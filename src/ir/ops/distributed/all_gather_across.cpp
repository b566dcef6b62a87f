#include "ir/rows/define.h"
#include "ir/shared/tuples.h"

namespace pando::ir {

extern const OpRow op_all_gather_across;
constexpr OpRow op_all_gather_across = checked({
    .name = "all_gather_across",
    .doc = "The tensors of a tuple, one behind the other along a dimension, on each of their devices.",
    .operands = {{{"ts"}}},
    .attributes = {{{"dim", AttributeKind::integer}}},
    .infer = [](Inference& in) {
      std::vector<Type> parts = equal_elements(in);
      const auto dim = static_cast<std::size_t>(dimension_of(in, parts[0], "dim"));
      for (Type& t : parts) t.shape[dim] *= static_cast<std::int64_t>(parts.size());
      tuple_result(in, std::move(parts));
    },
    .reference = [](Evaluation& e) {
      const std::vector<HostTensor> parts = tensors_of(e.operand_value(0));
      e.result(tuple_of(std::vector<HostTensor>(parts.size(), joined_along(parts, e.attributes().integer("dim")))));
    },
    .expand = [](Expansion& e) {
      const std::vector<ValueId> parts = elements_of(e);
      std::vector<ValueId> whole_tensors;
      for (ValueId to : parts) {
        std::vector<ValueId> here;
        for (ValueId v : parts) here.push_back(moved(e, v, device_of(e, to)));
        whole_tensors.push_back(joined_along(e, here, e.attributes().integer("dim")));
      }
      give_tuple(e, whole_tensors);
    },
    .in_program_only = true,
    .moves = true,
    .whole = "devices meet in it: the program says where its operands lie",
    .traffic = Traffic::all_gather,
});

}  // namespace pando::ir
