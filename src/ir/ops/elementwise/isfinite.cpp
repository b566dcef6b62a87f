#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_isfinite;
constexpr OpRow op_isfinite = checked({
    .name = "isfinite",
    .doc = "true where the element is neither infinite nor NaN.",
    .signature = "isfinite(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = infer_bool,
    .reference = map_unary([](double x) { return std::isfinite(x); }),
    .expand = [](Expansion& x) {
      const ValueId nan = x.op("isnan", {x.operand(0)}), infinite = x.op("isinf", {x.operand(0)});
      x.result(x.op("logical_not", {x.op("logical_or", {nan, infinite})}));
    },
    .samples = special_samples,
    .elementwise = true,
    .popart_type = "Not",
});

}  // namespace pando::ir
