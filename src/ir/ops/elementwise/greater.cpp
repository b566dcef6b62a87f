#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

template <class T>
std::int64_t is_greater(std::int64_t a, std::int64_t b) {
  return static_cast<T>(a) > static_cast<T>(b);
}

}  // namespace

extern const OpRow op_greater;
constexpr OpRow op_greater = checked({
    .name = "greater",
    .doc = "true where input is above other. With NumPy's broadcasting; both operands have one element type.",
    .signature = "greater(input: Tensor, other: Tensor) -> Tensor",
    .operands = {{{"input", any_numeric | only_bool}, {"other", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      const bool is_unsigned = e.operand(0).dtype() == DType::uint64;
      map_pairs(e, [](double a, double b) { return static_cast<double>(a > b); },
                is_unsigned ? is_greater<std::uint64_t> : is_greater<std::int64_t>);
    },
    .differentiable = Differentiable::rejected,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "Greater",
});

}  // namespace pando::ir
