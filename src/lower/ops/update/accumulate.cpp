#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulate;
constexpr Row lower_accumulate = {
    .name = "accumulate_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      return m.done(pe::Add(m.operand(0), m.has_scalar("f") ? Any(pe::Mul(m.operand(1), m.scalar("f"))) : m.operand(1)));
    },
};

}  // namespace pando::lower
