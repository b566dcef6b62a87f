// The runs of a search: in which order each breaks ties, and how many nodes it gets. Private to the allocator.
#pragma once

#include <cstdint>
#include <vector>

#include "allocate/problem.h"
#include "allocate/sections.h"

namespace pando::allocate {

enum class SearchOrder : std::uint8_t { width, area, load_then_width, load_then_area, size };
inline constexpr std::uint64_t kSearchOrders = 5;

struct SearchRun {
  SearchOrder order = SearchOrder::width;
  bool weighted = false;   // prefer sections that failed often in the runs before
  bool perturbed = false;  // shake the order, by `seed`
  std::uint64_t seed = 0;
  std::uint64_t nodes = 0;
};

// The k-th run, from 0. Each order once as it is, then shaken ever differently.
SearchRun search_run(std::uint64_t k);

// Per buffer its place in the run's order: 0 goes first among the candidates for one place.
std::vector<std::uint32_t> rank_buffers(const std::vector<Buffer>& buffers, const Sections& sections, const SearchRun& run);

}  // namespace pando::allocate
