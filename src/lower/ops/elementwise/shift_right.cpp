#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_shift_right;
constexpr Row lower_shift_right = {
    .name = "shift_right",
    .expression = [](const Expression& e) -> Any {
      if (ir::is_signed_integer(e.operand_type(0).dtype)) return pe::ShrSE(e.operand(0), e.operand(1));
      return pe::Shr(e.operand(0), e.operand(1));
    },
};

}  // namespace pando::lower
