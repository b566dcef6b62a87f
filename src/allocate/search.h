// The exact half of allocate(): depth-first search over left-justified placements. docs/notes/allocation.md explains it.
#pragma once

#include <cstdint>
#include <vector>

#include "allocate/problem.h"
#include "allocate/sections.h"

namespace pando::allocate {

struct SearchResult {
  AllocationStatus status = AllocationStatus::infeasible;
  std::vector<std::uint64_t> offsets;  // per buffer, if solved
  std::uint64_t nodes = 0;
};

// `sections` are those of the problem's buffers; no buffer has size 0 or is never live. Offsets are multiples of 1 here; the
// search finds the largest unit itself.
SearchResult search_allocation(const AllocationProblem& problem, const Sections& sections, const AllocationOptions& options,
                               std::uint64_t node_budget);

}  // namespace pando::allocate
