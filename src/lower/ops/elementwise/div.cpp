#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_div;
constexpr Row lower_div = {.name = "div", .expression = [](const Expression& e) -> Any { return pe::Divide(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
