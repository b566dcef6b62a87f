#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_expert() {
  return {
      .word = "expert", .aliases = {"e"}, .position = 40, .doc = "Devices that share experts, and samples", .number = &Strategy::expert};
}

}  // namespace pando::transform
