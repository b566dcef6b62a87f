#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_rsqrt;
constexpr Row lower_rsqrt = {.name = "rsqrt", .expression = [](const Expression& e) -> Any { return pe::Rsqrt(e.operand(0)); }};

}  // namespace pando::lower
