#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_expm1;
constexpr Row lower_expm1 = {.name = "expm1", .expression = [](const Expression& e) -> Any { return pe::Expm1(e.operand(0)); }};

}  // namespace pando::lower
