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
#include <optional>
#include <string>
#include <vector>

#include "base/interval.h"

namespace pando::compile {

struct Buffer {
  std::vector<Interval> live;   // times, sorted and disjoint; most have one interval
  std::uint64_t size = 0;       // bytes
  std::uint64_t align = 1;      // not 0
  std::uint64_t lowest = 0;     // the offset may not be lower (regions)
  std::uint64_t highest_end = ~std::uint64_t{0};  // offset + size may not be higher
  std::optional<std::uint64_t> fixed;             // must lie exactly here (reserved ranges); `align` does not matter then
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct AllocationProblem {
  std::vector<Buffer> buffers;
  std::uint64_t capacity = 0;
  friend bool operator==(const AllocationProblem&, const AllocationProblem&) = default;
};

// Each search technique is a switch: tests run small problems through all combinations. None changes what can be solved, only
// how many nodes it takes.
struct AllocationOptions {
  bool greedy_first = true;        // try first-fit in several orders before searching
  bool canonical_only = true;      // visit each placement in one order of its buffers only
  bool dominance = true;           // of buffers that are alike, try one
  bool not_first = true;           // raise a buffer that cannot be the next one of a section above one that can
  bool supported_only = true;      // what cannot rest on placed buffers must rest on a later one
  bool section_first = true;       // branch on the section with the fewest next buffers, else on all buffers
  bool split_partitions = true;    // solve parts that are never live together apart
  bool check_lower_bound = true;   // prune with the load of each time section
  bool restarts = true;            // several orders with growing node budgets, else one order with all of it
  std::uint64_t node_budget = 1'000'000;  // nodes, never seconds; one is about 5 us on 200 buffers
  std::uint64_t total_node_budget = 10'000'000;  // of all problems of one allocate_all(), first come, first served
  std::uint32_t largest_search = 3000;    // problems with more buffers than this are not searched
};

enum class AllocationStatus { solved, infeasible, budget_exhausted };
struct AllocationResult {
  AllocationStatus status = AllocationStatus::infeasible;
  std::vector<std::uint64_t> offsets;  // per buffer, if solved
  std::uint64_t high_water = 0;        // the highest end of any buffer
  std::uint64_t nodes = 0;             // of the search; 0 if it was not needed
  friend bool operator==(const AllocationResult&, const AllocationResult&) = default;
};

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

}  // namespace pando::compile
