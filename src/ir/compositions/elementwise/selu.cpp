#include "ir/construction/composition.h"

namespace pando::ir {

extern const Composition composition_selu;
constexpr Composition composition_selu = {
    .name = "selu",
    .doc = "gamma x where x > 0, else gamma alpha (e^x - 1); without them alpha is 1.6732632 and gamma 1.0507010.",
    .operands = {{{"x", any_floating}}},
    .attributes = {{{"alpha", AttributeKind::number, false}, {"gamma", AttributeKind::number, false}}},
    .compose = [](Writer& w, const Composed& c) -> Values {
      const auto x = formula(w, c.operand());
      const double alpha = c.attributes.number("alpha", 1.67326319217681884765625),
                   gamma = c.attributes.number("gamma", 1.05070102214813232421875);
      const auto below = x.op("minimum", x.number(0)).op("expm1") * (alpha * gamma);
      return {select(w, x.op("greater", x.number(0)), x * gamma, below)};
    },
};

}  // namespace pando::ir
