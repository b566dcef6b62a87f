#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_tensor() {
  return {.word = "tensor",
          .aliases = {"t"},
          .position = 20,
          .doc = "Devices that share each layer's weights",
          .number = &Strategy::tensor,
          .nesting = 10,
          .numbers_of_space = [](const SpaceFacts& f, const Strategy&) { return divisors(f.space.devices); }};
}

}  // namespace pando::transform
