#include "search/axis.h"

namespace pando::search {

Axis axis_tensor_level() {
  Axis a = level_axis<&Strategy::tensor_level, &Strategy::tensor>(
      "Which level of the network tensor parallelism uses; -1: the narrowest that holds it", 23, AxisPart::transfers);
  a.outside = "levels (trainers number devices tensor, context, data, pipeline, so the narrowest level that holds each is used)";
  return a;
}

}  // namespace pando::search
