#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_atan2;
constexpr Row lower_atan2 = {.name = "atan2",
                             .expression = [](const Expression& e) -> Any { return pe::Atan2(e.operand(0), e.operand(1)); }};

}  // namespace pando::lower
