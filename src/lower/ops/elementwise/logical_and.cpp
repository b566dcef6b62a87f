#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_logical_and;
constexpr Row lower_logical_and = {
    .name = "logical_and",
    .expression = [](const Expression& e) -> Any {
      return pe::And(e.operand(0), e.operand(1));
    },
};

}  // namespace pando::lower
