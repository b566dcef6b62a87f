#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_equal;
constexpr Row lower_equal = {.name = "equal",
                             .expression = [](const Expression& e) -> Any { return pe::Equal(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
