#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_ceil;
constexpr Row lower_ceil = {.name = "ceil", .expression = [](const Expression& e) -> Any { return pe::Ceil(e.operand(0)); }, .steps = true};

}  // namespace pando::lower
