#include "lower/terms/element_types.h"
#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_pow;
constexpr Row lower_pow = {
    .name = "pow",
    .expression = [](const Expression& e) -> Any {
      const ir::DType base = e.operand_type(0).dtype, exponent = e.operand_type(1).dtype;
      if (base == exponent && ir::is_floating(base)) return pe::Pow(e.operand(0), e.operand(1));
      const Any t = base == ir::DType::float32 ? e.operand(0) : Any(pe::Cast(e.operand(0), poplar::FLOAT));
      const Any power = pe::Pow(t, exponent == ir::DType::float32 ? e.operand(1) : Any(pe::Cast(e.operand(1), poplar::FLOAT)));
      return base == ir::DType::float32 ? power : Any(pe::Cast(power, element_type(base)));
    },
    // At 0: 1 to the power of 0, infinite to one that is but a little less.
    .steps = true,
};

}  // namespace pando::lower
