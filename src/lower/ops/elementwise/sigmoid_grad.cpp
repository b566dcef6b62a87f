#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sigmoid_grad;
constexpr Row lower_sigmoid_grad = {
    .name = "sigmoid_grad",
    .expression = [](const Expression& e) -> Any {
      return pe::Mul(e.operand(1), pe::Mul(e.operand(0), pe::Sub(e.number(1), e.operand(0))));
    },
};

}  // namespace pando::lower
