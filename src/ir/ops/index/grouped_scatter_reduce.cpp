#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_grouped_scatter_reduce;
constexpr OpRow op_grouped_scatter_reduce = checked({
    .name = "grouped_scatter_reduce",
    .doc = "scatter_reduce for each group: with a group size above 1 the first dimension of all operands counts groups, and the axis "
           "is counted with it.",
    .signature = "grouped_scatter_reduce(data: Tensor, indices: Tensor, reduction: str, initial_values: Optional[Tensor] = None, axis: int "
                 "= 0, "
                 "axis_size: Optional[int] = None, group_size: int = 1, enable_index_broadcast: bool = True, available_memory_proportion: "
                 "Optional[float] = None) -> Tensor",
    .module = "scatter_reduce",
    .operands = {{{"data", any_numeric}, {"indices", any_integer}, {.name = "initial_values", .types = any_numeric, .optional = true}}},
    .attributes = {{{"reduction", AttributeKind::text},
                    {"axis", AttributeKind::integer},
                    {"axis_size", AttributeKind::integer, false},
                    {"group_size", AttributeKind::integer, false},
                    {"enable_index_broadcast", AttributeKind::flag, false},
                    {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = infer_scatter_reduce,
    .reference = evaluate_scatter_reduce,
    .differentiable = Differentiable::by_gradient,
    .gradient = scatter_reduce_gradient,
    .samples = [] { return scatter_reduce_samples(2); },
    .popart_type = "ScatterReduce",
    .subscripts = scatter_reduce_subscripts,
});

}  // namespace pando::ir
