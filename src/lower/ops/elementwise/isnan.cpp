#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_isnan;
constexpr Row lower_isnan = {
    .name = "isnan",
    .expression = [](const Expression& e) -> Any {
      // Integers always are numbers.
      return e.operand_type(0).dtype >= ir::DType::float16 ? Any(pe::IsNaN(e.operand(0))) : Any(pe::NotEqual(e.operand(0), e.operand(0)));
    },
};

}  // namespace pando::lower
