#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_negate;
constexpr Row lower_negate = {.name = "negate", .expression = [](const Expression& e) -> Any { return pe::Neg(e.operand(0)); }};

}  // namespace pando::lower
