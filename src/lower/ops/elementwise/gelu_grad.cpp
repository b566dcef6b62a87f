#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_gelu_grad;
constexpr Row lower_gelu_grad = {
    .name = "gelu_grad",
    .expression = [](const Expression& e) -> Any { return pe::Mul(e.operand(1), pe::GeluSlope(e.operand(0))); },
};

}  // namespace pando::lower
