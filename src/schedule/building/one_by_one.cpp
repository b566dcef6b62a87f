#include "schedule/building/one_by_one.h"

#include "schedule/building/row.h"

#include <algorithm>

namespace pando::schedule {

Table one_forward_one_backward(const Shape& s, std::int32_t (*warm_of)(std::int32_t rank, std::int32_t ranks)) {
  Table t;
  for (std::int32_t r = 0; r < s.ranks; ++r) {
    Row row;
    const std::int32_t warm = std::min(s.microbatches, warm_of(r, s.ranks));
    for (std::int32_t m = 0; m < warm; ++m) row.add(Action::forward, r, m);
    for (std::int32_t m = 0; m < s.microbatches; ++m) {
      row.add(Action::backward, r, m);
      if (warm + m < s.microbatches) row.add(Action::forward, r, warm + m);
    }
    t.ranks.push_back(std::move(row.cells));
  }
  return t;
}

}  // namespace pando::schedule
