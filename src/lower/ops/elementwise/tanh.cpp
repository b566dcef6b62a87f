#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_tanh;
constexpr Row lower_tanh = {.name = "tanh", .expression = [](const Expression& e) -> Any { return pe::Tanh(e.operand(0)); }};

}  // namespace pando::lower
