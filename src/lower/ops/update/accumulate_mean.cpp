#include "lower/shared/expressions.h"

namespace pando::lower {

extern const Row lower_accumulate_mean;
constexpr Row lower_accumulate_mean = {
    .name = "accumulate_mean_",
    .expression = [](const Expression& e) -> Any {
      const Mixed m(e);
      const Any step = m.scalar("step"), count = pe::Add(step, m.number(1));
      return m.done(pe::Add(pe::Mul(pe::Divide(step, count), m.operand(0)), pe::Divide(m.operand(1), count)));
    },
};

}  // namespace pando::lower
