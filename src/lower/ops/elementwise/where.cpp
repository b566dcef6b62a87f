#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_where;
constexpr Row lower_where = {
    .name = "where",
    .expression = [](const Expression& e) -> Any {
      return pe::Select(e.operand(1), e.operand(2), e.operand(0));
    },
};

}  // namespace pando::lower
