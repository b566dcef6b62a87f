#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_sigmoid;
constexpr Row lower_sigmoid = {.name = "sigmoid", .expression = [](const Expression& e) -> Any { return pe::Sigmoid(e.operand(0)); }};

}  // namespace pando::lower
