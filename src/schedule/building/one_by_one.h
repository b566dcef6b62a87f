// One rank's warm-up, then a backward and a forward pass in turns.
#pragma once

#include "schedule/schedule_row.h"

#include <cstdint>

namespace pando::schedule {

// `warm`: how many forward passes a rank begins with, of ranks ranks.
Table one_forward_one_backward(const Shape& shape, std::int32_t (*warm)(std::int32_t rank, std::int32_t ranks));

}  // namespace pando::schedule
