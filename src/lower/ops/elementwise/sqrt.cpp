#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sqrt;
constexpr Row lower_sqrt = {.name = "sqrt", .expression = [](const Expression& e) -> Any { return pe::Sqrt(e.operand(0)); }};

}  // namespace pando::lower
