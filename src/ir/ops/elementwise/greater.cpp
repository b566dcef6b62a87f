#include "ir/meaning/elements.h"
#include "ir/op_row.h"

namespace pando::ir {

extern const OpRow op_greater;
constexpr OpRow op_greater = checked({
    .name = "greater",
    .doc = "true where input is above other. With NumPy's broadcasting; both operands have one element type.",
    .signature = "greater(input: Tensor, other: Tensor) -> Tensor",
    .operands = {{{"input", any_numeric | only_bool}, {"other", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      if (e.operand(0).dtype() == DType::uint64) {
        map_pairs(e, [](double, double) { return 0.0; }, [](std::int64_t a, std::int64_t b) { return std::int64_t{static_cast<std::uint64_t>(a) > static_cast<std::uint64_t>(b)}; });
        return;
      }
      map_pairs(e, [](double a, double b) { return static_cast<double>(a > b); }, [](std::int64_t a, std::int64_t b) { return std::int64_t{a > b}; });
    },
    .differentiable = Differentiable::refused,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "Greater",
});

}  // namespace pando::ir
