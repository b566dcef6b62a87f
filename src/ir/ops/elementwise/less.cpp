#include "ir/meaning/elements.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_less;
constexpr OpRow op_less = checked({
    .name = "less",
    .doc = "true where lhs is below rhs. With NumPy's broadcasting; both operands have one element type.",
    .operands = {{{"lhs", any_numeric | only_bool}, {"rhs", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      if (e.operand(0).dtype() == DType::uint64) {
        map_pairs(e, [](double, double) { return 0.0; }, [](std::int64_t a, std::int64_t b) { return std::int64_t{static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b)}; });
        return;
      }
      map_pairs(e, [](double a, double b) { return static_cast<double>(a < b); }, [](std::int64_t a, std::int64_t b) { return std::int64_t{a < b}; });
    },
    .differentiable = Differentiable::refused,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "Less",
});

}  // namespace pando::ir
