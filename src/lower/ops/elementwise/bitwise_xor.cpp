#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_bitwise_xor;
constexpr Row lower_bitwise_xor = {
    .name = "bitwise_xor",
    .expression = [](const Expression& e) -> Any { return pe::BitwiseXor(e.operand(0), e.operand(1)); },
};

}  // namespace pando::lower
