#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_zero() {
  return {.word = "zero",
          .position = 80,
          .doc = "ZeRO: 1 cuts states of the optimizer over --data, 2 gradients, 3 weights",
          .number = &Strategy::zero,
          .least = 0,
          .most = 3,
          .otherwise = 0,
          .nesting = 130,
          .inside_group = true,
          .numbers_of_space = [](const SpaceFacts& f, const Strategy& s) {
            return s.data > 1 && f.has_updates ? std::vector<std::int32_t>{0, 1, 2, 3} : std::vector<std::int32_t>{0};
          }};
}

}  // namespace pando::transform
