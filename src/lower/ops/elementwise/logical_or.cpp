#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_logical_or;
constexpr Row lower_logical_or = {.name = "logical_or",
                                  .expression = [](const Expression& e) -> Any { return pe::Or(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
