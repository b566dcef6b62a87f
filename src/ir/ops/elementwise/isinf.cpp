#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_isinf;
constexpr OpRow op_isinf = checked({
    .name = "isinf",
    .doc = "true where the element is infinite.",
    .signature = "isinf(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = infer_bool,
    .reference = map_unary([](double x) { return std::isinf(x); }),
    .samples = special_samples,
    .elementwise = true,
    .popart_type = "IsInf",
});

}  // namespace pando::ir
