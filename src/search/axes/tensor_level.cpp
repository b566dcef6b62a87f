#include "search/axis.h"

namespace pando::search {

Axis axis_tensor_level() {
  Axis a = axis_of<&Strategy::tensor_level>("levels", "Which level of the network tensor parallelism uses; -1: the narrowest that holds it",
                                            14, 23, -1);
  a.part = AxisPart::transfers;
  a.outside = "levels (trainers number devices tensor, context, data, pipeline, so the narrowest level that holds each is used)";
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    if (!chooses_levels(c)) return all.push_back(-1);
    for (std::size_t l = 0; l < (s.tensor > 1 ? c.cluster.levels.size() : 1); ++l) all.push_back(static_cast<std::int64_t>(l));
  };
  return a;
}

}  // namespace pando::search
