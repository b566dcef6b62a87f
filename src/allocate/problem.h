// The nouns of memory allocation: buffers with lifetimes, the problem of placing them, its options and its result.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval.h"

namespace pando::allocate {

struct Buffer {
  std::vector<Interval> live;                     // times, sorted and disjoint; most have one interval
  std::uint64_t size = 0;                         // bytes
  std::uint64_t align = 1;                        // not 0
  std::uint64_t lowest = 0;                       // the offset may not be lower (regions)
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
  bool greedy_first = true;                      // try first-fit in several orders before searching
  bool canonical_only = true;                    // visit each placement in one order of its buffers only
  bool dominance = true;                         // of buffers that are alike, try one
  bool not_first = true;                         // raise a buffer that cannot be the next one of a section above one that can
  bool supported_only = true;                    // what cannot rest on placed buffers must rest on a later one
  bool section_first = true;                     // branch on the section with the fewest next buffers, else on all buffers
  bool split_partitions = true;                  // solve parts that are never live together apart
  bool check_lower_bound = true;                 // prune with the load of each time section
  bool restarts = true;                          // several orders with growing node budgets, else one order with all of it
  std::uint64_t node_budget = 1'000'000;         // nodes, never seconds; one is about 5 us on 200 buffers
  std::uint64_t total_node_budget = 10'000'000;  // of all problems of one allocate_all(), first come, first served
  std::uint32_t largest_search = 3000;           // problems with more buffers than this are not searched
};

enum class AllocationStatus { solved, infeasible, budget_exhausted };
struct AllocationResult {
  AllocationStatus status = AllocationStatus::infeasible;
  std::vector<std::uint64_t> offsets;  // per buffer, if solved
  std::uint64_t high_water = 0;        // the highest end of any buffer
  std::uint64_t nodes = 0;             // of the search; 0 if it was not needed
  friend bool operator==(const AllocationResult&, const AllocationResult&) = default;
};

}  // namespace pando::allocate
