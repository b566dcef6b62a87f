#include "lower/expressions.h"

#include <numbers>

namespace pando::lower {

extern const Row lower_log2;
constexpr Row lower_log2 = {
    .name = "log2",
    .expression = [](const Expression& e) -> Any {
      return pe::Divide(pe::Log(e.operand(0)), e.number(std::numbers::ln2));
    },
};

}  // namespace pando::lower
