#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_pipeline() {
  return {.word = "pipeline", .aliases = {"p"}, .position = 30, .doc = "Ranks of the pipeline", .number = &Strategy::pipeline};
}

}  // namespace pando::transform
