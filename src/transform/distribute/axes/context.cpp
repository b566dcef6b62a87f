#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_context() {
  return {.word = "context",
          .aliases = {"c"},
          .position = 50,
          .doc = "Devices that share the positions of a sequence",
          .number = &Strategy::context,
          .nesting = 30,
          .numbers_of_space = [](const SpaceFacts& f, const Strategy&) { return divisors(f.has_sequence ? f.space.devices : 1); }};
}

}  // namespace pando::transform
