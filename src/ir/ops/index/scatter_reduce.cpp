#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_scatter_reduce;
constexpr OpRow op_scatter_reduce = checked({
    .name = "scatter_reduce",
    .doc = "The data, gathered along an axis into the places that their indices name: their sum, least or largest, or the last one "
           "(none). Where several or none come, initial values take part; without those, places that nothing reaches are 0. One- "
           "dimensional indices name slices; others lie beside the data and repeat along missing trailing dimensions and those of "
           "length 1. Indices outside are left out. axis_size: the axis' length in the result.",
    .signature = "scatter_reduce(data: Tensor, indices: Tensor, reduction: str, initial_values: Optional[Tensor] = None, axis: int = 0, "
                 "axis_size: Optional[int] = None, enable_index_broadcast: bool = True, available_memory_proportion: Optional[float] = "
                 "None) -> Tensor",
    .operands = {{{"data", any_numeric}, {"indices", any_integer}, {.name = "initial_values", .types = any_numeric, .optional = true}}},
    .attributes = {{{"reduction", AttributeKind::text},
                    {"axis", AttributeKind::integer},
                    {"axis_size", AttributeKind::integer, false},
                    {"enable_index_broadcast", AttributeKind::flag, false},
                    {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = infer_scatter_reduce,
    .reference = evaluate_scatter_reduce,
    .differentiable = Differentiable::by_gradient,
    .gradient = scatter_reduce_gradient,
    .samples = [] { return scatter_reduce_samples(1); },
    .popart_type = "ScatterReduce",
    .subscripts = scatter_reduce_subscripts,
});

}  // namespace pando::ir
