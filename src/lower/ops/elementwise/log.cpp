#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_log;
constexpr Row lower_log = {.name = "log", .expression = [](const Expression& e) -> Any { return pe::Log(e.operand(0)); }};

}  // namespace pando::lower
