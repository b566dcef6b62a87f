#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sub;
constexpr Row lower_sub = {.name = "sub", .expression = [](const Expression& e) -> Any { return pe::Sub(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
