#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_log1p;
constexpr Row lower_log1p = {.name = "log1p", .expression = [](const Expression& e) -> Any { return pe::Log1p(e.operand(0)); }};

}  // namespace pando::lower
