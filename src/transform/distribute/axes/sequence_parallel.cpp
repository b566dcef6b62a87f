#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_sequence_parallel() {
  return {.word = "sequence-parallel",
          .position = 130,
          .doc = "Between products, cut positions over --tensor",
          .flag = &Strategy::sequence_parallel};
}

}  // namespace pando::transform
