#include "allocate/search_order.h"

#include <algorithm>
#include <tuple>

namespace pando::allocate {
namespace {

// Nodes of the shortest runs. A run that finds a placement of a hard instance mostly does so within a few nodes a buffer; one
// that took a wrong turn may take for ever.
constexpr std::uint64_t kShortestRun = 600;

// 1 1 2 1 1 2 4 1 1 2 ...: runs of every length, each length taking the same share of all nodes (Luby, Sinclair, Zuckerman).
std::uint64_t luby(std::uint64_t i) {
  for (;;) {
    std::uint64_t power = 1;
    while (power - 1 < i) power *= 2;
    if (power - 1 == i) return power / 2;
    i -= power / 2 - 1;
  }
}

// Uniform in [0, 1). Splitmix: the same everywhere, unlike the distributions of <random>.
double uniform(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

struct Ranked {
  double first = 0, second = 0, third = 0;  // largest first
  std::uint32_t buffer = 0;
};

double heaviest_section(const Sections& sections, std::size_t buffer) {
  std::uint64_t load = 0;
  for (const Span* span = sections.begin_of(buffer); span != sections.end_of(buffer); ++span)
    for (std::uint32_t s = span->begin; s < span->end; ++s) load = std::max(load, sections.load[s]);
  return static_cast<double>(load);
}

Ranked ranked(SearchOrder order, double width, double size, double load, std::uint32_t buffer) {
  const double area = width * size;
  switch (order) {
    case SearchOrder::width: return {width, area, load, buffer};
    case SearchOrder::area: return {area, load, width, buffer};
    case SearchOrder::load_then_width: return {load, width, area, buffer};
    case SearchOrder::load_then_area: return {load, area, width, buffer};
    case SearchOrder::size: break;
  }
  return {size, width, load, buffer};
}

}  // namespace

SearchRun search_run(std::uint64_t k) {
  const std::uint64_t round = k / kSearchOrders;
  return {.order = static_cast<SearchOrder>(k % kSearchOrders),
          .weighted = round % 3 == 2,
          .perturbed = round > 0,
          .seed = k,
          .nodes = kShortestRun * luby(round + 1)};
}

std::vector<std::uint32_t> rank_buffers(const std::vector<Buffer>& buffers, const Sections& sections, const SearchRun& run) {
  std::uint64_t random = run.seed;
  const auto shake = [&] { return run.perturbed ? 0.7 + 0.6 * uniform(random) : 1.0; };
  std::vector<Ranked> order;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    const double load = heaviest_section(sections, i) * shake();
    const double width = static_cast<double>(total_size(buffers[i].live)) * shake();
    const double size = static_cast<double>(buffers[i].size) * shake();
    order.push_back(ranked(run.order, width, size, load, i));
  }
  std::sort(order.begin(), order.end(), [](const Ranked& a, const Ranked& b) {
    return std::tie(b.first, b.second, b.third, a.buffer) < std::tie(a.first, a.second, a.third, b.buffer);
  });
  std::vector<std::uint32_t> rank(buffers.size());
  for (std::uint32_t k = 0; k < order.size(); ++k) rank[order[k].buffer] = k;
  return rank;
}

}  // namespace pando::allocate
