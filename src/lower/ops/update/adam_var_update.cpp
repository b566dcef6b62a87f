#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_adam_var_update;
constexpr Row lower_adam_var_update = {
    .name = "adam_var_update",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      const Any r1 = m.operand(2), r2 = m.operand(3), zero = m.number(0);
      Any norm = pe::Sqrt(r1);
      if (m.has_scalar("max_weight_norm")) norm = pe::Min(norm, m.scalar("max_weight_norm"));
      const Any ratio = pe::Select(m.number(1), pe::Divide(norm, pe::Sqrt(r2)), pe::Or(pe::Equal(r1, zero), pe::Equal(r2, zero)));
      const Any scaled = pe::Mul(ratio, m.operand(1));
      return m.done(pe::Sub(m.operand(0), m.has_scalar("learning_rate") ? Any(pe::Mul(m.scalar("learning_rate"), scaled)) : scaled));
    },
};

}  // namespace pando::lower
