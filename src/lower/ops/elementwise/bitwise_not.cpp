#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_bitwise_not;
constexpr Row lower_bitwise_not = {.name = "bitwise_not",
                                   .expression = [](const Expression& e) -> Any { return pe::BitwiseNot(e.operand(0)); }};

}  // namespace pando::lower
