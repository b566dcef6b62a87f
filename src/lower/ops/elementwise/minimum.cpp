#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_minimum;
constexpr Row lower_minimum = {.name = "minimum",
                               .expression = [](const Expression& e) -> Any { return pe::Min(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
