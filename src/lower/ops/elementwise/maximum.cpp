#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_maximum;
constexpr Row lower_maximum = {
    .name = "maximum",
    .expression = [](const Expression& e) -> Any {
      Any all = e.operand(0);
      for (std::size_t i = 1; i < e.operands(); ++i) all = pe::Max(all, e.operand(i));
      return all;
    },
};

}  // namespace pando::lower
