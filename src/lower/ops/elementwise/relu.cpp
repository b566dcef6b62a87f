#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_relu;
constexpr Row lower_relu = {.name = "relu",
                            .expression = [](const Expression& e) -> Any { return pe::UnaryOp(pe::UnaryOpType::RELU, e.operand(0)); }};

}  // namespace pando::lower
