#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_relu_grad;
constexpr Row lower_relu_grad = {
    .name = "relu_grad",
    .expression = [](const Expression& e) -> Any {
      return pe::Select(e.operand(1), e.number(0), pe::Gt(e.operand(0), e.number(0)));
    },
};

}  // namespace pando::lower
