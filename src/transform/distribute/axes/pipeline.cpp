#include "transform/distribute/axis.h"

#include <algorithm>

namespace pando::transform {

AxisRow axis_pipeline() {
  return {.word = "pipeline",
          .aliases = {"p"},
          .position = 30,
          .doc = "Ranks of the pipeline",
          .number = &Strategy::pipeline,
          .nesting = 20,
          .numbers_of_space = [](const SpaceFacts& f, const Strategy&) {
            return divisors(f.space.devices, std::max<std::int64_t>(1, static_cast<std::int64_t>(f.layer_operations.size())));
          }};
}

}  // namespace pando::transform
