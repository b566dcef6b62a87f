#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_expert() {
  return {.word = "expert",
          .aliases = {"e"},
          .position = 40,
          .doc = "Devices that share experts, and samples",
          .number = &Strategy::expert,
          .nesting = 40,
          .numbers_of_space = [](const SpaceFacts& f, const Strategy&) { return divisors(f.has_experts ? f.space.devices : 1); }};
}

}  // namespace pando::transform
