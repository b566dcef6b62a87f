#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"

#include <numbers>

namespace pando::lower {

extern const Row lower_log2;
constexpr Row lower_log2 = {
    .name = "log2",
    // As floats. Of a power of two it is whole, whatever the division's rounding: programs go on with floor or ceil.
    .expression = [](const Expression& e) -> Any {
      const Any r = pe::Divide(pe::Cast(pe::Log(e.operand(0)), poplar::FLOAT), pe::Const(static_cast<float>(std::numbers::ln2)));
      const Any whole = pe::Round(r);
      const Any is_whole = pe::Lt(pe::Abs(pe::Sub(r, whole)), pe::Mul(pe::Abs(whole), pe::Const(1.0f / (1 << 23))));
      return pe::Cast(pe::Select(whole, r, is_whole), element_type(e.result_type().dtype));
    },
};

}  // namespace pando::lower
