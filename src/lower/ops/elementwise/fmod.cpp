#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_fmod;
constexpr Row lower_fmod = {
    .name = "fmod",
    .expression = [](const Expression& e) -> Any {
      const Any rest = pe::Rem(e.operand(0), e.operand(1));
      if (ir::is_floating(e.operand_type(0).dtype)) return rest;
      return pe::Select(e.number(0), rest, pe::Equal(e.operand(1), e.number(0)));
    },
    .steps = true,
};

}  // namespace pando::lower
