#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_not_equal;
constexpr OpRow op_not_equal = checked({
    .name = "not_equal",
    .doc = "true where lhs and rhs differ. With NumPy's broadcasting; both operands have one element type.",
    .operands = {{{"lhs", any_numeric | only_bool}, {"rhs", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a != b; }, [](std::int64_t a, std::int64_t b) { return std::int64_t{a != b}; });
    },
    .differentiable = Differentiable::rejected,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "NotEqual",
});

}  // namespace pando::ir
