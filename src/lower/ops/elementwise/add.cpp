#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_add;
constexpr Row lower_add = {.name = "add", .expression = [](const Expression& e) -> Any { return pe::Add(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
