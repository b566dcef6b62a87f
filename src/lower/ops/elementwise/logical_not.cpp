#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_logical_not;
constexpr Row lower_logical_not = {.name = "logical_not", .expression = [](const Expression& e) -> Any { return pe::Not(e.operand(0)); }};

}  // namespace pando::lower
