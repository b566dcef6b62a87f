#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_cos;
constexpr Row lower_cos = {.name = "cos", .expression = [](const Expression& e) -> Any { return pe::Cos(e.operand(0)); }};

}  // namespace pando::lower
