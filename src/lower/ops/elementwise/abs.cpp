#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_abs;
constexpr Row lower_abs = {.name = "abs", .expression = [](const Expression& e) -> Any { return pe::Abs(e.operand(0)); }};

}  // namespace pando::lower
