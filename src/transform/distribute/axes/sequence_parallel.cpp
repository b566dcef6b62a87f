#include "transform/distribute/axis.h"

namespace pando::transform {

namespace {

void add_both(const SpaceFacts& f, const Strategy& s, std::vector<Strategy>& to) {
  to.emplace_back(s).sequence_parallel = false;
  if (s.tensor > 1 && f.has_sequence) to.emplace_back(s).sequence_parallel = true;
}

}  // namespace

AxisRow axis_sequence_parallel() {
  return {.word = "sequence-parallel",
          .position = 130,
          .doc = "Between products, cut positions over --tensor",
          .flag = &Strategy::sequence_parallel,
          .nesting = 100,
          .choices = add_both};
}

}  // namespace pando::transform
