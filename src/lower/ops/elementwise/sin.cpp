#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sin;
constexpr Row lower_sin = {.name = "sin", .expression = [](const Expression& e) -> Any { return pe::Sin(e.operand(0)); }};

}  // namespace pando::lower
