#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sign;
constexpr Row lower_sign = {
    .name = "sign", .expression = [](const Expression& e) -> Any { return pe::Signum(e.operand(0)); }, .steps = true};

}  // namespace pando::lower
