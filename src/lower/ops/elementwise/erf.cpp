#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_erf;
constexpr Row lower_erf = {.name = "erf", .expression = [](const Expression& e) -> Any { return pe::Erf(e.operand(0)); }};

}  // namespace pando::lower
