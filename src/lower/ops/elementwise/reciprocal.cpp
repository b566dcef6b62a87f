#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_reciprocal;
constexpr Row lower_reciprocal = {.name = "reciprocal", .expression = [](const Expression& e) -> Any { return pe::Inv(e.operand(0)); }};

}  // namespace pando::lower
