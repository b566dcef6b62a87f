#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulate_moving_average_square;
constexpr Row lower_accumulate_moving_average_square = {
    .name = "accumulate_moving_average_square_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      return m.done(pe::Add(pe::Mul(m.scalar("f"), m.operand(0)), pe::Mul(m.complement("f"), pe::Square(m.operand(1)))));
    },
};

}  // namespace pando::lower
