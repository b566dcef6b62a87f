#include "ir/meaning/elements.h"
#include "ir/meaning/formula.h"
#include "ir/rows/define.h"

#include <functional>

namespace pando::ir {

namespace {

// Towards zero. A division by zero gives 0, the quotient that does not fit wraps.
std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? wrapping(std::minus<>(), 0, a) : a / b;
}

std::int64_t unsigned_quotient(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) / static_cast<std::uint64_t>(b));
}

}  // namespace

extern const OpRow op_div;
constexpr OpRow op_div = checked({
    .name = "div",
    .doc = "lhs over rhs, element by element, with NumPy's broadcasting. Both operands have one element type. The quotient of "
           "integers is rounded towards zero, and 0 where rhs is 0.",
    .signature = "div(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return a / b; }, is_unsigned_integer(e.operand(0).dtype()) ? unsigned_quotient : quotient);
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      const auto dy = formula(g, g.grad()), rhs = formula(g, g.operand(1));
      const auto part = dy / rhs;
      if (g.wants(0)) g.give(0, g.reduced_to(part, g.operand_type(0).shape));
      if (g.wants(1)) g.give(1, g.reduced_to(-(part * formula(g, g.result())), g.operand_type(1).shape));
    },
    .samples = binary_samples,
    .elementwise = true,
    .popart_type = "Div",
    .subscripts = scaling_subscripts,
});

}  // namespace pando::ir
