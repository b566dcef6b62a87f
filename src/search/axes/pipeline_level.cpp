#include "search/axis.h"

namespace pando::search {

Axis axis_pipeline_level() {
  return level_axis<&Strategy::pipeline_level, &Strategy::pipeline>(
      "Which level of the network pipeline parallelism uses; -1: the narrowest that holds it", 35, AxisPart::rest);
}

}  // namespace pando::search
