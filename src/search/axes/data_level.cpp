#include "search/axis.h"

namespace pando::search {

Axis axis_data_level() {
  return level_axis<&Strategy::data_level, &Strategy::data>(
      "Which level of the network data parallelism uses; -1: the narrowest that holds it", 36, AxisPart::rest);
}

}  // namespace pando::search
