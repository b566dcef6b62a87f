#include "allocate/allocate.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "allocate/greedy.h"
#include "allocate/search.h"
#include "allocate/sections.h"
#include "base/check.h"

namespace pando::allocate {
namespace {

using Offsets = std::vector<std::uint64_t>;

bool takes_space(const Buffer& b) { return b.size > 0 && !b.live.empty(); }

std::uint64_t lowest_offset(const Buffer& b) { return b.fixed ? *b.fixed : (b.lowest + b.align - 1) / b.align * b.align; }

bool fits_alone(const Buffer& b, std::uint64_t capacity) {
  if (b.fixed && *b.fixed < b.lowest) return false;
  const std::uint64_t end = std::min(b.highest_end, capacity);
  return b.size <= end && lowest_offset(b) <= end - b.size;
}

std::uint64_t high_water(const AllocationProblem& problem, const Offsets& offsets) {
  std::uint64_t top = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) top = std::max(top, offsets[i] + problem.buffers[i].size);
  return top;
}

// The largest capacity that a left-justified placement can use. The capacity of a machine without bounds would overflow.
std::uint64_t useful_capacity(const AllocationProblem& problem) {
  std::uint64_t stacked = 0, highest = 0;
  for (const Buffer& b : problem.buffers) {
    stacked += b.size + b.align;
    highest = std::max(highest, lowest_offset(b));
  }
  return std::min(problem.capacity, stacked + highest);
}

AllocationProblem part_of(const AllocationProblem& problem, const std::vector<std::uint32_t>& buffers) {
  AllocationProblem part;
  part.capacity = useful_capacity(problem);
  for (const std::uint32_t i : buffers) part.buffers.push_back(problem.buffers[i]);
  return part;
}

// Buffers whose placements depend on each other, by the sections they span.
std::vector<std::vector<std::uint32_t>> split(const Sections& sections, const std::vector<std::uint32_t>& buffers, bool really) {
  std::vector<std::pair<Span, std::uint32_t>> hulls;
  for (std::uint32_t k = 0; k < buffers.size(); ++k) hulls.emplace_back(sections.hull(k), buffers[k]);
  std::sort(hulls.begin(), hulls.end(),
            [](const auto& a, const auto& b) { return std::tie(a.first.begin, a.second) < std::tie(b.first.begin, b.second); });
  std::vector<std::vector<std::uint32_t>> parts;
  std::uint32_t end = 0;
  for (const auto& [hull, buffer] : hulls) {
    if (parts.empty() || (really && hull.begin >= end)) parts.emplace_back();
    parts.back().push_back(buffer);
    end = std::max(end, hull.end);
  }
  for (std::vector<std::uint32_t>& part : parts) std::sort(part.begin(), part.end());
  return parts;
}

// Is some section overloaded within some window of offsets? Windows are those that buffers ask for; there are few.
bool proves_infeasible(const AllocationProblem& problem, const Sections& sections) {
  std::vector<Interval> windows = {{0, problem.capacity}};
  const auto window_of = [&](const Buffer& b) { return Interval{b.lowest, std::min(b.highest_end, problem.capacity)}; };
  for (const Buffer& b : problem.buffers) windows.push_back(window_of(b));
  std::sort(windows.begin(), windows.end());
  windows.erase(std::unique(windows.begin(), windows.end()), windows.end());
  constexpr std::size_t kFew = 8;  // more would make this pass slower than what it saves
  if (windows.size() > kFew) windows.resize(kFew);
  for (const Interval& window : windows) {
    std::vector<std::uint64_t> load(sections.count, 0);
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      const Interval own = window_of(problem.buffers[i]);
      if (own.begin < window.begin || own.end > window.end) continue;
      for (const Span* span = sections.begin_of(i); span != sections.end_of(i); ++span)
        for (std::uint32_t s = span->begin; s < span->end; ++s) load[s] += problem.buffers[i].size;
    }
    if (std::any_of(load.begin(), load.end(), [&](std::uint64_t l) { return l > window.size(); })) return true;
  }
  return false;
}

bool try_greedy(const AllocationProblem& problem, Offsets& offsets) {
  for (const GreedyOrder order : kGreedyOrders) {
    GreedyPlacement placement = first_fit(problem.buffers, order);
    if (!placement.within_bounds || placement.high_water > problem.capacity) continue;
    offsets = std::move(placement.offsets);
    return true;
  }
  return false;
}

// Solves the buffers that take space. Greedy for all, then part by part greedy and search.
AllocationStatus solve(const AllocationProblem& problem, const std::vector<std::uint32_t>& buffers, const AllocationOptions& options,
                       AllocationResult& result) {
  const AllocationProblem all = part_of(problem, buffers);
  Offsets found;
  if (options.greedy_first && try_greedy(all, found)) {
    for (std::size_t k = 0; k < buffers.size(); ++k) result.offsets[buffers[k]] = found[k];
    return AllocationStatus::solved;
  }
  const Sections sections = make_sections(all.buffers);
  if (options.check_lower_bound && proves_infeasible(all, sections)) return AllocationStatus::infeasible;

  bool gave_up = false;
  const std::vector<std::vector<std::uint32_t>> parts = split(sections, buffers, options.split_partitions);
  for (const std::vector<std::uint32_t>& members : parts) {
    const AllocationProblem part = part_of(problem, members);
    const bool greedy = options.greedy_first && parts.size() > 1 && try_greedy(part, found);
    if (!greedy) {
      SearchResult search{.status = AllocationStatus::budget_exhausted};
      if (members.size() <= options.largest_search)
        search = search_allocation(part, make_sections(part.buffers), options, options.node_budget - result.nodes);
      result.nodes += search.nodes;
      if (search.status == AllocationStatus::infeasible) return AllocationStatus::infeasible;
      gave_up = gave_up || search.status == AllocationStatus::budget_exhausted;
      found = std::move(search.offsets);
    }
    for (std::size_t k = 0; k < found.size(); ++k) result.offsets[members[k]] = found[k];
  }
  return gave_up ? AllocationStatus::budget_exhausted : AllocationStatus::solved;
}

}  // namespace

AllocationResult allocate(const AllocationProblem& problem, const AllocationOptions& options) {
  AllocationResult result;
  result.offsets.resize(problem.buffers.size());
  std::vector<std::uint32_t> buffers;
  bool each_fits = true;
  for (std::uint32_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    PANDO_CHECK(b.align != 0);
    each_fits = each_fits && fits_alone(b, problem.capacity);
    if (takes_space(b))
      buffers.push_back(i);
    else
      result.offsets[i] = lowest_offset(b);
  }
  result.status = AllocationStatus::infeasible;
  if (each_fits) result.status = buffers.empty() ? AllocationStatus::solved : solve(problem, buffers, options, result);
  if (result.status != AllocationStatus::solved) result.offsets.clear();
  result.high_water = high_water(problem, result.offsets);
  return result;
}

}  // namespace pando::allocate
