#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulator_scale;
constexpr Row lower_accumulator_scale = {
    .name = "accumulator_scale_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      // The number 0 clears whatever was there.
      if (e.attributes().has("f") && e.attributes().number("f") == 0) return e.number(0);
      return m.done(pe::Mul(m.operand(0), m.scalar("f")));
    },
};

}  // namespace pando::lower
