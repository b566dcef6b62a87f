// Repeating patterns for stages in a V (Qi et al. 2024, "Pipeline Parallelism with Controllable Memory"): every microbatch goes through the
// ranks in the same way, six slots behind the one before it. How far apart neighbouring ranks' passes lie decides how long activations
// live.
#pragma once

#include "schedule/generate.h"

#include <array>
#include <vector>

namespace pando::schedule {

struct Pattern {
  // Slots from one stage's pass to the next one's: forward down the ranks, at the turn, back up; the same for gradients.
  std::int32_t down = 1, turn = 1, up = 1, gradient_down = 1, gradient_turn = 1, gradient_up = 1;
};

// When each pass of microbatch 0 is, by rank: forward, gradient, weight gradient of the stage on the way down, then of the one back up.
// Empty if a rank would have two passes in one slot.
std::vector<std::array<std::int32_t, 6>> slots_of(const Problem& problem, const Pattern& pattern);
inline constexpr std::int32_t kPatternPeriod = 6;

// All patterns of small distances in which no rank has two passes in one slot.
std::vector<Pattern> patterns(const Problem& problem);
// A pattern's table. Empty if a rank would have two passes in one slot.
Table table_of(const Problem& problem, const Pattern& pattern, std::int32_t microbatches);

}  // namespace pando::schedule
