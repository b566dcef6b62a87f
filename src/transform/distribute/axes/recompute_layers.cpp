#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_recompute_layers() {
  return {.word = "recompute-layers",
          .position = 120,
          .doc = "With --recompute: these layers alone, by number from 0",
          .least = 0,
          .numbers = &Strategy::recomputed_layers};
}

}  // namespace pando::transform
