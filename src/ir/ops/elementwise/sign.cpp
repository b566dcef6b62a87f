#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_sign;
constexpr OpRow op_sign = checked({
    .name = "sign",
    .doc = "-1, 0 or 1: the element's sign. 0 of NaN.",
    .signature = "sign(t: Tensor) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      map_numbers(e, [](double x) { return static_cast<double>((x > 0) - (x < 0)); },
                  [](std::int64_t x) { return std::int64_t{(x > 0) - (x < 0)}; });
    },
    .differentiable = Differentiable::zero,
    .samples = kinked_unary_samples,
    .elementwise = true,
    .popart_type = "Sign",
});

}  // namespace pando::ir
