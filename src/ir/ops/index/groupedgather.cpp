#include "ir/meaning/elements.h"
#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_groupedgather;
constexpr OpRow op_groupedgather = checked({
    .name = "groupedgather",
    .doc = "gather for each group: with a group size above 1 the first dimension of t and of the indices counts groups, and the axis "
           "(counted with that dimension) is gathered within each. With one group it is gather.",
    .signature = "groupedgather(t: Tensor, indices: Tensor, axis: int = 0, group_size: int = 1, available_memory_proportion: "
                 "Optional[float] = None, zero_OOR: bool = False) -> Tensor",
    .module = "gather",
    .operands = {{{"t"}, {"indices", any_integer}}},
    .attributes = {{{"axis", AttributeKind::integer},
                    {"zero_OOR", AttributeKind::flag, false},
                    {"group_size", AttributeKind::integer, false},
                    {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = infer_gather,
    .reference = evaluate_gather,
    .differentiable = Differentiable::by_gradient,
    .gradient = gather_gradient,
    .cost = movement_cost,
    .samples = [] {
      std::vector<Sample> all = gather_samples();
      Sample s;
      s.operands = {{DType::float32, {2, 4, 3}, -2, 2, {}}, {DType::int32, {2, 2}, 0, 0, {1, 3, 2, 2}}};
      for (std::int64_t axis : {1, 2}) {
        s.attributes = {{"axis", axis}, {"group_size", std::int64_t{2}}};
        s.operands[1].values = axis == 1 ? Floats{1, 3, 2, 2} : Floats{1, 0, 2, 2};
        all.push_back(s);
      }
      return all;
    },
    .popart_type = "Gather",
    .subscripts = gather_subscripts,
});

}  // namespace pando::ir
