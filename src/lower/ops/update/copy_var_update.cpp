#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_copy_var_update;
constexpr Row lower_copy_var_update = {.name = "copy_var_update_", .expression = [](const Expression& e) -> Any { return e.operand(1); }};

}  // namespace pando::lower
