#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_gelu;
constexpr Row lower_gelu = {.name = "gelu", .expression = [](const Expression& e) -> Any { return pe::Gelu(e.operand(0)); }};

}  // namespace pando::lower
