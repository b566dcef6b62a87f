#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_context() {
  return {.word = "context",
          .aliases = {"c"},
          .position = 50,
          .doc = "Devices that share the positions of a sequence",
          .number = &Strategy::context};
}

}  // namespace pando::transform
