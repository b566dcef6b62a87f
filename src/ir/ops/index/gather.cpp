#include "ir/meaning/elements.h"
#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_gather;
constexpr OpRow op_gather = checked({
    .name = "gather",
    .doc = "The slices of t along the axis that the indices name: the axis is replaced by the dimensions of the indices, as in "
           "numpy.take. A slice outside is zero with zero_OOR, else undefined.",
    .signature = "gather(t: Tensor, indices: Tensor, axis: int = 0, available_memory_proportion: Optional[float] = None, zero_OOR: bool = "
                 "False) -> Tensor",
    .operands = {{{"t"}, {"indices", any_integer}}},
    .attributes = {{{"axis", AttributeKind::integer},
                    {"zero_OOR", AttributeKind::flag, false},
                    {"available_memory_proportion", AttributeKind::number, false}}},
    .infer = infer_gather,
    .reference = evaluate_gather,
    .differentiable = Differentiable::by_gradient,
    .gradient = gather_gradient,
    .cost = movement_cost,
    .samples = gather_samples,
    .popart_type = "Gather",
    .subscripts = gather_subscripts,
});

}  // namespace pando::ir
