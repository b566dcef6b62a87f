// Better schedules by many small moves.
#pragma once

#include "schedule/generate.h"

namespace pando::schedule {

// Cells of a row are moved a few places, within the limits of the problem. What is longer is kept, too, as long as it is warm; it gets cold
// over `moves`. Gives the shortest span that was met, `start` itself if none is shorter. The same seed gives the same table.
Table anneal(const Problem& problem, const Table& start, std::int64_t moves, std::uint64_t seed);

}  // namespace pando::schedule
