#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_not_equal;
constexpr Row lower_not_equal = {
    .name = "not_equal",
    .expression = [](const Expression& e) -> Any {
      return pe::NotEqual(e.operand(0), e.operand(1));
    },
};

}  // namespace pando::lower
