#include "lower/shared/expressions.h"

#include <numbers>

namespace pando::lower {

extern const Row lower_geluerf;
constexpr Row lower_geluerf = {
    .name = "geluerf",
    .expression = [](const Expression& e) -> Any {
      return pe::Mul(pe::Mul(e.operand(0), e.number(0.5)),
                     pe::Add(pe::Erf(pe::Mul(e.operand(0), e.number(std::numbers::sqrt2 / 2))), e.number(1)));
    },
};

}  // namespace pando::lower
