#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_mul;
constexpr Row lower_mul = {.name = "mul", .expression = [](const Expression& e) -> Any { return pe::Mul(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
