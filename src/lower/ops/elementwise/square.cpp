#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_square;
constexpr Row lower_square = {.name = "square", .expression = [](const Expression& e) -> Any { return pe::Square(e.operand(0)); }};

}  // namespace pando::lower
