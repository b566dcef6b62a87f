#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_isfinite;
constexpr Row lower_isfinite = {
    .name = "isfinite",
    .expression = [](const Expression& e) -> Any {
      return e.operand_type(0).dtype >= ir::DType::float16 ? Any(pe::IsFinite(e.operand(0))) : Any(pe::Equal(e.operand(0), e.operand(0)));
    },
};

}  // namespace pando::lower
