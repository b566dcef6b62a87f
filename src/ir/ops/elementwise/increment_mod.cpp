#include "ir/op_row.h"

#include <cmath>

namespace pando::ir {

extern const OpRow op_increment_mod;
constexpr OpRow op_increment_mod = checked({
    .name = "increment_mod",
    .doc = "The remainder (as in C) of t + increment over modulus, element by element: a counter that begins again.",
    .signature = "increment_mod(t: Tensor, increment: float, modulus: float) -> Tensor",
    .operands = {{{"t", any_numeric}}},
    .attributes = {{{"increment", AttributeKind::number}, {"modulus", AttributeKind::number}}},
    .infer = same_as_first,
    .reference = [](Evaluation& e) {
      const double increment = e.attributes().number("increment"), modulus = e.attributes().number("modulus");
      map_elements(e, [=](double x) { return std::fmod(x + increment, modulus); });
    },
    .samples = [] {
      std::vector<Sample> all;
      for (DType t : {DType::int32, DType::uint32, DType::float32}) {
        Sample s;
        s.operands = {{t, {7}, 0, 10, {}}};
        s.attributes = {{"increment", 3.0}, {"modulus", 5.0}};
        all.push_back(s);
      }
      return all;
    },
    .elementwise = true,
    .has_in_place = true,
    .popart_type = "IncrementMod",
    .popart_in_place_type = "IncrementModInplace",
});

}  // namespace pando::ir
