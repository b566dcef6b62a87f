#include "ir/rows/define.h"

#include <cmath>

namespace pando::ir {

namespace {

std::int64_t remainder(std::int64_t a, std::int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

std::int64_t unsigned_remainder(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) % static_cast<std::uint64_t>(b));
}

}  // namespace

extern const OpRow op_fmod;
constexpr OpRow op_fmod = checked({
    .name = "fmod",
    .doc = "The remainder of lhs over rhs: lhs less a whole multiple of rhs, with the sign of lhs, as in C. With NumPy's "
           "broadcasting; 0 for integers where rhs is 0.",
    .signature = "fmod(lhs: Tensor, rhs: Tensor) -> Tensor",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .infer = broadcast_same_type,
    .reference = [](Evaluation& e) {
      map_pairs(e, [](double a, double b) { return std::fmod(a, b); },
                is_unsigned_integer(e.operand(0).dtype()) ? unsigned_remainder : remainder);
    },
    .differentiable = Differentiable::by_gradient,
    .gradient = [](Gradient& g) {
      if (g.wants(0)) g.give(0, g.reduced_to(g.grad(), g.operand_type(0).shape));
    },
    .samples = binary_samples,
    .elementwise = true,
    .popart_type = "Fmod",
});

}  // namespace pando::ir
