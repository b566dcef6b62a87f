#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_isnan;
constexpr OpRow op_isnan = checked({
    .name = "isnan",
    .doc = "true where the element is not a number (NaN).",
    .signature = "isnan(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = infer_bool,
    .reference = map_unary([](double x) { return std::isnan(x); }),
    .samples = special_samples,
    .elementwise = true,
    .popart_type = "IsNaN",
});

}  // namespace pando::ir
