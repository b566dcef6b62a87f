#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_less;
constexpr Row lower_less = {.name = "less", .expression = [](const Expression& e) -> Any { return pe::Lt(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
