// Offline dynamic storage allocation: give each buffer an offset so that no two that are live at the same time overlap and none
// passes the capacity. NP-hard; machine.md section 4 has the literature.
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
  std::uint64_t align = 1;
  std::uint64_t lowest = 0;     // the offset may not be lower (regions)
  std::uint64_t highest_end = ~std::uint64_t{0};  // offset + size may not be higher
  std::optional<std::uint64_t> fixed;             // must lie exactly here (reserved ranges)
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct AllocationProblem {
  std::vector<Buffer> buffers;
  std::uint64_t capacity = 0;
  friend bool operator==(const AllocationProblem&, const AllocationProblem&) = default;
};

// Each search technique is a switch: tests run small problems through all combinations.
struct AllocationOptions {
  bool greedy_first = true;        // try best-fit heuristics before searching
  bool canonical_only = true;
  bool dominance = true;
  bool monotonic_floor = true;
  bool split_partitions = true;    // solve parts that are never live together apart
  bool check_lower_bound = true;   // prune with the load of each time section
  std::uint64_t node_budget = 50'000'000;  // nodes, never seconds
};

enum class AllocationStatus { solved, infeasible, budget_exhausted };
struct AllocationResult {
  AllocationStatus status = AllocationStatus::infeasible;
  std::vector<std::uint64_t> offsets;  // per buffer, if solved
  std::uint64_t high_water = 0;
  std::uint64_t nodes = 0;
};

AllocationResult allocate(const AllocationProblem& problem, const AllocationOptions& options = {});

// Deterministic best effort without a capacity: greedy, used for the report when memory is exceeded and for unbounded machines.
AllocationResult allocate_greedy(const AllocationProblem& problem);

// The dumb checker: quadratic, shares nothing with the solver. Empty if valid, else what is wrong.
std::string check_allocation(const AllocationProblem& problem, const std::vector<std::uint64_t>& offsets);

// Solves many problems; equal ones once. `results[i]` belongs to `problems[i]`.
std::vector<AllocationResult> allocate_all(const std::vector<AllocationProblem>& problems, const AllocationOptions& options = {});

}  // namespace pando::compile
