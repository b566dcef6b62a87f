#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_equal;
constexpr OpRow op_equal = checked({
    .name = "equal",
    .doc = "true where lhs and rhs are equal. With NumPy's broadcasting; both operands have one element type.",
    .signature = "equal(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric | only_bool}, {"rhs", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a == b; }, [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; });
    },
    .differentiable = Differentiable::rejected,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "Equal",
});

}  // namespace pando::ir
