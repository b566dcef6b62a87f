#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_greater;
constexpr Row lower_greater = {.name = "greater",
                               .expression = [](const Expression& e) -> Any { return pe::Gt(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
