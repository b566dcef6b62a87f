#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_zero() {
  return {.word = "zero",
          .position = 80,
          .doc = "ZeRO: 1 cuts states of the optimizer over --data, 2 gradients, 3 weights",
          .number = &Strategy::zero,
          .least = 0,
          .most = 3,
          .otherwise = 0};
}

}  // namespace pando::transform
