#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_isinf;
constexpr Row lower_isinf = {
    .name = "isinf",
    .expression = [](const Expression& e) -> Any {
      return e.operand_type(0).dtype >= ir::DType::float16 ? Any(pe::IsInf(e.operand(0))) : Any(pe::NotEqual(e.operand(0), e.operand(0)));
    },
};

}  // namespace pando::lower
