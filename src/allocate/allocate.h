// Offline dynamic storage allocation: give each buffer an offset so that no two that are live at the same time overlap and none
// passes the capacity. NP-hard; docs/notes/allocation.md says how it is solved and where the ideas come from.
//
//   offset ^
//          |  +-----------+------+        A buffer is a box: its width is when it is live, its height
//          |  |     c     |      |        its size. The width is given, the solver chooses how high
//          |  +--+--------+  d   |        each box hangs.
//          |     |   b    |      |
//          |  +--+--------+------+
//          |  |        a         |
//          +--+------------------+--> time
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "allocate/problem.h"

namespace pando::allocate {

// Finds a placement, or proves that there is none (infeasible), or gives up (budget_exhausted). The same problem and options
// give the same result, offsets included, everywhere.
AllocationResult allocate(const AllocationProblem& problem, const AllocationOptions& options = {});

// Deterministic best effort without a capacity: greedy, used for the report when memory is exceeded and for unbounded machines.
// Always gives an offset to every buffer. Honours `fixed`, `align` and `lowest`; where a buffer does not fit below its
// `highest_end`, it goes higher, and where fixed buffers collide they do: the status is then infeasible.
AllocationResult allocate_greedy(const AllocationProblem& problem);

// The most bytes live at one time: no placement is lower. Ignores bounds, alignment and capacity.
std::uint64_t largest_load(const AllocationProblem& problem);

// The dumb checker: quadratic, shares nothing with the solver. Empty if valid, else what is wrong.
std::string check_allocation(const AllocationProblem& problem, const std::vector<std::uint64_t>& offsets);

// Solves many problems; equal ones once. `results[i]` belongs to `problems[i]`: what allocate() gives, as long as the total
// node budget lasts.
std::vector<AllocationResult> allocate_all(const std::vector<AllocationProblem>& problems, const AllocationOptions& options = {});

}  // namespace pando::allocate
