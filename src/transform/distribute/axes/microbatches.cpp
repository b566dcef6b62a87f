#include "transform/distribute/axis.h"

namespace pando::transform {

AxisRow axis_microbatches() {
  return {.word = "microbatches", .position = 60, .doc = "Parts of the samples, one after the other", .number = &Strategy::microbatches};
}

}  // namespace pando::transform
