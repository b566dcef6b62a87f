#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_stages_per_rank() {
  return {.word = "stages-per-rank",
          .aliases = {"v"},
          .position = 70,
          .doc = "Stages of the pipeline on each rank",
          .shown_default = "1",
          .number = &Strategy::stages_per_rank};
}

}  // namespace pando::transform
