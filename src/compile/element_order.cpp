#include "compile/element_order.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compile/stretches.h"

namespace pando::compile {

namespace {

using graph::View;

struct Pair {
  View source, destination;
};

// Small copies are not worth a look.
constexpr std::uint64_t kFewElements = 4096;
constexpr std::uint64_t kWindows = 8, kWindow = 512;

std::vector<graph::Run> runs_of(const View& view, std::uint64_t begin, std::uint64_t end) {
  std::vector<graph::Run> runs;
  view.for_each_run(begin, end, [&](const graph::Run& run) { runs.push_back(run); });
  return runs;
}

// Stretches in windows of elements that lie evenly in the views.
std::uint64_t sampled_stretches(const Plan& plan, const Pair& pair) {
  const std::uint64_t n = pair.source.num_elements();
  std::uint64_t stretches = 0;
  for (std::uint64_t w = 0; w < kWindows; ++w) {
    const std::uint64_t begin = (n - kWindow) / (kWindows - 1) * w;
    Cursor from(plan, runs_of(pair.source, begin, begin + kWindow)), to(plan, runs_of(pair.destination, begin, begin + kWindow));
    for (; !from.done(); ++stretches) {
      const std::uint64_t count = from.peek(to.peek(kLongestStretch).count).count;
      from.advance(count);
      to.advance(count);
    }
  }
  return stretches;
}

// Dimension `from` taken out and put in again as dimension `to`.
Pair moved(const Pair& pair, std::size_t from, std::size_t to) {
  std::vector<unsigned> order(pair.source.rank());
  std::iota(order.begin(), order.end(), 0u);
  const unsigned dimension = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), dimension);
  return {pair.source.dim_shuffle(order), pair.destination.dim_shuffle(order)};
}

// The pairs that differ from this one by one dimension that is now the first or the last.
std::vector<Pair> neighbours(const Pair& pair) {
  std::vector<Pair> out;
  const std::size_t rank = pair.source.rank();
  for (std::size_t d = 0; d < rank; ++d) {
    if (pair.source.dim(d) == 1) continue;
    if (d != 0) out.push_back(moved(pair, d, 0));
    if (d + 1 < rank) out.push_back(moved(pair, d, rank - 1));
  }
  return out;
}

// Puts both into the order of their memory, if that is one order: a stretch ends with a shard, not with a row.
bool in_order_of_memory(View& source, View& destination) {
  const View from = source.unfolded(), to = destination.unfolded();
  std::vector<unsigned> reversed, order, other_reversed, other_order;
  if (from.shape() != to.shape() || !from.variable_order(reversed, order) || !to.variable_order(other_reversed, other_order)) return false;
  if (!reversed.empty() || !other_reversed.empty() || order != other_order) return false;
  source = from.dim_shuffle(order);
  destination = to.dim_shuffle(order);
  return true;
}

}  // namespace

void reorder_for_stretches(const Plan& plan, View& source, View& destination) {
  constexpr unsigned kRounds = 3;
  constexpr std::uint64_t kFewStretches = kWindows * kWindow / 16;
  if (source.num_elements() < kFewElements || in_order_of_memory(source, destination)) return;
  Pair best{source, destination};
  std::uint64_t least = sampled_stretches(plan, best);
  if (least <= kFewStretches) return;
  std::vector<Pair> starts;
  for (const View& grid : {source, destination, source.unfolded(), destination.unfolded()}) {
    const bool known = std::any_of(starts.begin(), starts.end(), [&](const Pair& p) { return p.source.shape() == grid.shape(); });
    if (grid.rank() > 1 && !known) starts.push_back({source.reshape(grid.shape()), destination.reshape(grid.shape())});
  }
  for (const Pair& start : starts) {
    Pair now = start;
    for (unsigned round = 0; round < kRounds; ++round) {
      std::optional<Pair> better;
      for (Pair& next : neighbours(now))
        if (const std::uint64_t stretches = sampled_stretches(plan, next); stretches <= least / 2) {
          least = stretches;
          better = std::move(next);
        }
      if (!better) break;
      best = now = *std::move(better);
    }
  }
  source = best.source;
  destination = best.destination;
}

}  // namespace pando::compile
