// The axes of a program's space.
#pragma once

#include "search/programs/program_search.h"

#include <vector>

namespace pando::search {

// What of a program decides which axes it has.
struct ProgramFacts {
  // Of every input and stream that counts samples, what all their sizes divide by; 0: none counts.
  std::int64_t samples = 0;
  bool has_sequence = false, has_experts = false, has_backward = false, has_updates = false, has_attention = false;
  // By layer: operations, and seconds at the best efficiency, of its forward ops.
  std::vector<double> layer_operations, layer_seconds;
};
ProgramFacts facts_of(const transform::Program& program, const simulate::CostModel& costs);

// Points with equal degrees, microbatches, schedule, stages and sequence parallelism; the first of them is the plainest.
struct ProgramGroup {
  std::vector<transform::Strategy> points;
  std::int64_t first_index = 0;
};
std::vector<ProgramGroup> program_groups(const ProgramFacts& facts, const ProgramSpace& space);

}  // namespace pando::search
