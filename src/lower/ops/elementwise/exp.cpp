#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_exp;
constexpr Row lower_exp = {.name = "exp", .expression = [](const Expression& e) -> Any { return pe::Exp(e.operand(0)); }};

}  // namespace pando::lower
