#include "ir/meaning/elements.h"
#include "ir/rows/define.h"

namespace pando::ir {

namespace {

template <class T>
std::int64_t is_less(std::int64_t a, std::int64_t b) {
  return static_cast<T>(a) < static_cast<T>(b);
}

}  // namespace

extern const OpRow op_less;
constexpr OpRow op_less = checked({
    .name = "less",
    .doc = "true where lhs is below rhs. With NumPy's broadcasting; both operands have one element type.",
    .operands = {{{"lhs", any_numeric | only_bool}, {"rhs", any_numeric | only_bool}}},
    .infer = broadcast_to_bool,
    .reference = [](Evaluation& e) {
      const bool is_unsigned = e.operand(0).dtype() == DType::uint64;
      map_pairs(e, [](double a, double b) { return static_cast<double>(a < b); },
                is_unsigned ? is_less<std::uint64_t> : is_less<std::int64_t>);
    },
    .differentiable = Differentiable::rejected,
    .samples = comparison_samples,
    .elementwise = true,
    .popart_type = "Less",
});

}  // namespace pando::ir
