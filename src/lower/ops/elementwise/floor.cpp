#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_floor;
constexpr Row lower_floor = {
    .name = "floor", .expression = [](const Expression& e) -> Any { return pe::Floor(e.operand(0)); }, .steps = true};

}  // namespace pando::lower
