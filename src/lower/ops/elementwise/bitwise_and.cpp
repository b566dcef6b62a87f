#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_bitwise_and;
constexpr Row lower_bitwise_and = {
    .name = "bitwise_and",
    .expression = [](const Expression& e) -> Any { return pe::BitwiseAnd(e.operand(0), e.operand(1)); },
};

}  // namespace pando::lower
