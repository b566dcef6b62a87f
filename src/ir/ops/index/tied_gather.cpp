#include "ir/meaning/elements.h"
#include "ir/meaning/scatters.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_tied_gather;
constexpr OpRow op_tied_gather = checked({
    .name = "tied_gather",
    .doc = "gather of a tensor that a matrix product shares; the same numbers.",
    .signature = "tied_gather(t: Tensor, indices: Tensor, axis: int = 0, available_memory_proportion: Optional[float] = None, zero_OOR: "
                 "bool = False) -> Tensor",
    .module = "gather",
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
    .popart_type = "PopartTiedGather",
    .subscripts = gather_subscripts,
});

}  // namespace pando::ir
