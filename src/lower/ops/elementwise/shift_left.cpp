#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_shift_left;
constexpr Row lower_shift_left = {
    .name = "shift_left",
    .expression = [](const Expression& e) -> Any { return pe::Shl(e.operand(0), e.operand(1)); },
};

}  // namespace pando::lower
