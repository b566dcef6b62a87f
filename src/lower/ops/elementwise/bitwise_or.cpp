#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_bitwise_or;
constexpr Row lower_bitwise_or = {
    .name = "bitwise_or",
    .expression = [](const Expression& e) -> Any { return pe::BitwiseOr(e.operand(0), e.operand(1)); },
};

}  // namespace pando::lower
