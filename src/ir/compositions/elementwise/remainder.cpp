#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_remainder;
constexpr Composition composition_remainder = {
    .name = "remainder",
    .doc = "The remainder of lhs over rhs with the sign of rhs, as Python's %. With NumPy's broadcasting.",
    .operands = {{{"lhs", any_numeric}, {"rhs", any_numeric}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto a = formula(w, c.operand(0)), b = formula(w, c.operand(1)), r = a.op("fmod", b);
      if (is_unsigned_integer(a.dtype())) return {r};
      const auto zero = r.number(0);
      const auto other_sign = r.op("less", zero).op("not_equal", b.op("less", zero));
      return {select(w, r.op("not_equal", zero).op("logical_and", other_sign), r + b, r)};
    },
};

}  // namespace pando::ir
