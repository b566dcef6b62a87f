#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

extern const OpRow op_logical_or;
constexpr OpRow op_logical_or = checked({
    .name = "logical_or",
    .doc = "true where one element is. With NumPy's broadcasting.",
    .signature = "logical_or(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", only_bool}, {"rhs", only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a != 0 || b != 0; },
                [](std::int64_t a, std::int64_t b) { return std::int64_t{a != 0 || b != 0}; });
    },
    .differentiable = Differentiable::rejected,
    .samples = bool_binary_samples,
    .elementwise = true,
    .popart_type = "Or",
});

}  // namespace pando::ir
