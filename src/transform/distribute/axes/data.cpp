#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_data() { return {.word = "data", .position = 10, .doc = "Devices that share the samples", .number = &Strategy::data}; }

}  // namespace pando::transform
