// Which numbers the devices of a strategy have.
#pragma once

#include "transform/distribute/layout/spec.h"
#include "transform/distribute/parallelise.h"

#include <array>
#include <cstdint>

namespace pando::transform {

// How far apart the numbers of neighbours on each axis are.
struct DeviceStrides {
  std::array<std::int64_t, kTime> of_axis{};
  std::int64_t pipeline = 1;
};

// Rejects (value) names in Strategy::order that are no axes, or there twice.
DeviceStrides strides_of(const Strategy& strategy);

}  // namespace pando::transform
