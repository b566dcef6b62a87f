#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_increment_mod;
constexpr Row lower_increment_mod = {
    .name = "increment_mod",
    .expression = [](const Expression& e) -> Any {
      return pe::Rem(pe::Add(e.operand(0), e.number(e.attributes().number("increment"))), e.number(e.attributes().number("modulus")));
    },
    .steps = true,
};

}  // namespace pando::lower
