#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_tanh_grad;
constexpr Row lower_tanh_grad = {
    .name = "tanh_grad",
    .expression = [](const Expression& e) -> Any {
      return pe::Mul(e.operand(1), pe::Sub(e.number(1), pe::Square(e.operand(0))));
    },
};

}  // namespace pando::lower
