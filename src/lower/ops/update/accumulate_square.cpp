#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulate_square;
constexpr Row lower_accumulate_square = {
    .name = "accumulate_square_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      const Any square = pe::Square(m.operand(1));
      return m.done(pe::Add(m.operand(0), m.has_scalar("f") ? Any(pe::Mul(square, m.scalar("f"))) : square));
    },
};

}  // namespace pando::lower
