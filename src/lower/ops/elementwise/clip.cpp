#include "lower/shared/expressions.h"

#include <cmath>

namespace pando::lower {

extern const Row lower_clip;
constexpr Row lower_clip = {
    .name = "clip",
    .expression = [](const Expression& e) -> Any {
      Any x = e.operand(0);
      if (e.attributes().has("min") && std::isfinite(e.attributes().number("min"))) x = pe::Max(x, e.number(e.attributes().number("min")));
      if (e.attributes().has("max") && std::isfinite(e.attributes().number("max"))) x = pe::Min(x, e.number(e.attributes().number("max")));
      return x;
    },
};

}  // namespace pando::lower
