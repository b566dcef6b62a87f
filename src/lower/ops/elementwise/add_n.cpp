#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_add_n;
constexpr Row lower_add_n = {
    .name = "add_n",
    .expression = [](const Expression& e) -> Any {
      Any sum = e.operand(0);
      for (std::size_t i = 1; i < e.operands(); ++i) sum = pe::Add(sum, e.operand(i));
      return sum;
    },
};

}  // namespace pando::lower
