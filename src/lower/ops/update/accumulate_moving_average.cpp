#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulate_moving_average;
constexpr Row lower_accumulate_moving_average = {
    .name = "accumulate_moving_average_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      return m.done(pe::Add(pe::Mul(m.scalar("f"), m.operand(0)), pe::Mul(m.complement("f"), m.operand(1))));
    },
};

}  // namespace pando::lower
