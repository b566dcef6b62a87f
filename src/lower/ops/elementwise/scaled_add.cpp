#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_scaled_add;
constexpr Row lower_scaled_add = {
    .name = "scaled_add",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      const Any x = m.has_scalar("a") ? Any(pe::Mul(m.operand(0), m.scalar("a"))) : m.operand(0);
      const Any y = m.has_scalar("b") ? Any(pe::Mul(m.operand(1), m.scalar("b"))) : m.operand(1);
      return m.done(pe::Add(x, y));
    },
};

}  // namespace pando::lower
