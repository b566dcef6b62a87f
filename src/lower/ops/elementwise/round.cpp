#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_round;
constexpr Row lower_round = {
    .name = "round", .expression = [](const Expression& e) -> Any { return pe::NearbyInt(e.operand(0)); }, .steps = true};

}  // namespace pando::lower
