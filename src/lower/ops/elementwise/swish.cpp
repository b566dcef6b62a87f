#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_swish;
constexpr Row lower_swish = {
    .name = "swish",
    .expression = [](const Expression& e) -> Any {
      return pe::Mul(e.operand(0), pe::Sigmoid(e.operand(0)));
    },
};

}  // namespace pando::lower
