#include "transform/distribute/axis.h"

namespace pando::transform {

namespace {

// What the other degrees leave.
std::vector<std::int32_t> data_degrees(const SpaceFacts& f, const Strategy& s) {
  const std::int64_t taken = std::int64_t{s.tensor} * s.pipeline * s.context * s.expert;
  if (f.space.devices % taken != 0) return {};
  return {static_cast<std::int32_t>(f.space.devices / taken)};
}

}  // namespace

AxisRow axis_data() {
  return {.word = "data",
          .position = 10,
          .doc = "Devices that share the samples",
          .number = &Strategy::data,
          .nesting = 50,
          .numbers_of_space = data_degrees,
          .on_demand = false};
}

}  // namespace pando::transform
