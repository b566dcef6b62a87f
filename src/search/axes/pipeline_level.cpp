#include "search/axis.h"

namespace pando::search {

Axis axis_pipeline_level() {
  Axis a = axis_of<&Strategy::pipeline_level>(
      "levels", "Which level of the network pipeline parallelism uses; -1: the narrowest that holds it", 14, 35, -1);
  a.part = AxisPart::rest;
  a.domain = [](const AxisContext& c, const Strategy& s, Values& all) {
    if (!chooses_levels(c)) return all.push_back(-1);
    for (std::size_t l = 0; l < (s.pipeline > 1 ? c.cluster.levels.size() : 1); ++l) all.push_back(static_cast<std::int64_t>(l));
  };
  return a;
}

}  // namespace pando::search
